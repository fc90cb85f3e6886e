package cluster

import (
	"maps"
	"slices"
	"time"
)

// Terms are the requests of a submission beside VMs, rules and walltime. The zero value is a
// rigid vjob that runs when its turn comes and may be suspended (thesis §2.2).
//
// The vjobs of one submission share their terms, which never change. [VJob.OwnTerms] gives a vjob others.
//
// A term is declared here and nowhere else: its type and its tags say how users write it, [Terms.Check]
// what is valid. See [TermFields] for the tags.
type Terms struct {
	Queue    string    `json:"queue,omitempty" flag:"queue,q" help:"<QUEUE> to submit to"` // "" before it was routed to one
	Project  string    `json:"project,omitempty" flag:"project" help:"<PROJECT> that is charged beside its owner"`
	Deadline time.Time `json:"deadline,omitzero" flag:"deadline" help:"<TIME> by which it should end, such as 'tomorrow 08:00' or +6h" show:"deadline"`
	MinShare float64   `json:"floor,omitempty" flag:"floor" help:"least <SHARE> of its CPU that it accepts, from 0 to 1; 0 is all of it"`

	Pool           string   `json:"pool,omitempty" flag:"pool" help:"<POOL> that gives it CPU and memory, by default that of its project or queue"`
	Shares         string   `json:"shares,omitempty" flag:"shares" help:"<SHARES> of each VM in its pool under contention: high, normal (the default), low or a number" show:"shares"`
	CPUReservation MilliCPU `json:"cpu_reservation_milli,omitempty" flag:"cpu-reservation" help:"<CPU> that each VM gets at least while it runs, such as 0.5"`
	CPULimit       MilliCPU `json:"cpu_limit_milli,omitempty" flag:"cpu-limit" help:"<CPU> that each VM gets at most, also on an idle node"`

	Moves MoveMode `json:"moves,omitempty" flag:"moves" help:"<MODE> of moves by balance and consolidation: automatic (the default: as the cluster says), manual (they wait for approval) or never; drained nodes, and vjobs that start, may still move its VMs" show:"moves"`

	BestEffort bool       `json:"best_effort,omitempty" flag:"best-effort" help:"run only on capacity that no other vjob needs"` // and is preempted first
	Preemption Preemption `json:"yields,omitempty" flag:"yields" help:"how it is preempted: suspend (the default), end or never"`
	MinRun     Seconds    `json:"min_run_seconds,omitempty" flag:"min-run" help:"<TIME> after each start in which it is not preempted"`

	NotBefore time.Time `json:"not_before,omitzero" flag:"not-before" help:"<TIME> of its earliest start, such as 'tomorrow 08:00' or +6h"`
	NotAfter  time.Time `json:"not_after,omitzero" flag:"not-after" help:"<TIME> of its latest start; otherwise it fails"`

	// Flexible counts from the submission.
	Flexible Seconds `json:"flexible_seconds,omitempty" flag:"flexible" help:"longest <TIME> to delay its start for a lower price of energy, such as 6h; it requires a walltime"`

	Reservation time.Time `json:"reservation,omitzero" flag:"reserve,at" help:"<TIME> from which its resources are reserved, such as 'tomorrow 08:00'" show:"reserved"`

	After []Dependency `json:"after,omitempty" flag:"after" help:"<[CONDITION:]VJOB> that it depends on, by number or name: ok (the default), notok, any or started; 120[] is the whole array 120, 120[i] the vjob with the same index; may be repeated"`
	Unmet Unmet        `json:"unmet,omitempty" flag:"unmet" help:"what happens if a dependency can never be met: fail (the default), hold or run"`

	// MaxConcurrent counts the suspended vjobs of its array, too. `vjob submit --array` sets it.
	MaxConcurrent int `json:"at_once,omitempty" help:"most vjobs of its array that run at once; 0 is all"`

	Success    Success `json:"success,omitempty" flag:"success" help:"which VMs have to succeed: all (the default: the largest exit status counts), first or any" show:"success"`
	LeaderEnds bool    `json:"led,omitempty" flag:"led" help:"end it when the guest of its first VM shuts itself down"`
	Idempotent bool    `json:"idempotent,omitempty" flag:"idempotent" help:"submit it again when it fails"`
	Container  bool    `json:"container,omitempty" flag:"container" help:"reserve resources for vjobs that are submitted with --inner; nothing else runs in them"`
	Inner      VJobID  `json:"inner,omitempty" flag:"inner" help:"number or name of the <CONTAINER> in which it runs"`

	// The first shape is that of the vjob itself. `vjob submit --shape` adds one.
	Shapes []Shape `json:"shapes,omitempty" help:"alternatives of a moldable vjob: the one that ends first is chosen"`

	// Output and Error are patterns of files, see [VJob.OutputName].
	Output string `json:"output,omitempty" flag:"output" help:"<PATTERN> of the files that keep its output, below your folder of the site's output directory, such as run-%j.out: %j is its number, %A and %a those of its array and in it, %r the rank of a VM, %x its name"`
	Error  string `json:"error,omitempty" flag:"error" help:"<PATTERN> of the files that keep what goes to standard error; without it, it goes to those of --output"`

	Notify []string          `json:"notify,omitempty" flag:"notify" help:"<ADDRESS> that is notified of its states: mail:NAME@HOST or https://…; may be repeated"`
	Labels map[string]string `json:"labels,omitempty" flag:"label" help:"<NAME=VALUE> that is stored with it; may be repeated"`

	Comment string `json:"comment,omitempty" flag:"comment" help:"free <TEXT> of at most 1,000 bytes on one line, which vjob show repeats" show:"comment"`
}

// Shape is one alternative of a moldable vjob.
type Shape struct {
	VMs      []VM          `json:"vms"`
	Walltime time.Duration `json:"walltime"`
	Rules    string        `json:"rules,omitempty"`
}

// Dependencies are what a vjob depends on: those of the terms, with the vjob of its own index for [Dependency.Each].
func (j *VJob) Dependencies() []Dependency {
	if !slices.ContainsFunc(j.After, func(d Dependency) bool { return d.Each }) {
		return j.After
	}
	list := slices.Clone(j.After)
	for i, d := range list {
		if d.Each {
			list[i] = Dependency{On: d.On + VJobID(j.Index-1), When: d.When}
		}
	}
	return list
}

// Clone copies the terms so that neither copy sees changes to the other's lists.
func (t Terms) Clone() Terms {
	t.After, t.Shapes, t.Notify, t.Labels = slices.Clone(t.After), slices.Clone(t.Shapes), slices.Clone(t.Notify), maps.Clone(t.Labels)
	return t
}

// Preemption is how a running vjob is preempted.
type Preemption uint8

// The ways to preempt a vjob.
const (
	BySuspension Preemption = iota // it is suspended and continues later
	ByEnd                          // it is stopped and starts again later
	Never                          // it is not preempted
)

var preemptions = names[Preemption]{BySuspension: "suspend", ByEnd: "end", Never: "never"}

// String is the lower-case name.
func (y Preemption) String() string { return preemptions.text(y) }

// MarshalText writes the name.
func (y Preemption) MarshalText() ([]byte, error) { return []byte(y.String()), nil }

// UnmarshalText reads the name.
func (y *Preemption) UnmarshalText(b []byte) (err error) {
	*y, err = preemptions.parse("yields", string(b))
	return err
}

// MoveMode is whether the VMs of a running vjob move to improve the cluster: by balance and consolidation. What is
// necessary moves them in any mode: they leave drained nodes, and make room for vjobs that start.
type MoveMode uint8

// The modes.
const (
	MovesAutomatic MoveMode = iota // as the automation of the cluster says
	MovesManual                    // their moves wait for approval, also where the cluster is automatic
	MovesNever                     // they stay
)

var moveModes = names[MoveMode]{MovesAutomatic: "automatic", MovesManual: "manual", MovesNever: "never"}

// String is the lower-case name.
func (m MoveMode) String() string { return moveModes.text(m) }

// ParseMoveMode reads the name; the error lists the valid names.
func ParseMoveMode(s string) (MoveMode, error) { return moveModes.parse("moves", s) }

// MarshalText writes the name.
func (m MoveMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the name.
func (m *MoveMode) UnmarshalText(b []byte) (err error) {
	*m, err = ParseMoveMode(string(b))
	return err
}

// Dependency is a condition on another vjob.
type Dependency struct {
	On    VJobID    `json:"on"`              // number of the vjob, or of the array
	When  Condition `json:"when"`            // afterok: it completed; afternotok: it ended otherwise; afterany: it ended; after: it has started
	Array bool      `json:"array,omitempty"` // on every vjob of the array On: afternotok is met by one, the others by all
	// Each is whether each vjob of an array depends on the one of the array On with its own index, beside Array.
	Each bool `json:"each,omitempty"`
	// Name names the vjob or the array in place of On: a live one of the owner, or the last that ended.
	Name string `json:"name,omitempty"`
}

// Condition is what a dependency requires of another vjob.
type Condition uint8

// The conditions.
const (
	AfterOK    Condition = iota // it completed
	AfterAny                    // it ended
	AfterNotOK                  // it ended without completing
	AfterStart                  // it has started
)

var conditions = names[Condition]{AfterOK: "afterok", AfterAny: "afterany", AfterNotOK: "afternotok", AfterStart: "after"}

// String is the lower-case name.
func (c Condition) String() string { return conditions.text(c) }

// shortConditions are the names without "after".
var shortConditions = names[Condition]{AfterOK: "ok", AfterAny: "any", AfterNotOK: "notok", AfterStart: "started"}

// ParseCondition reads the name, as Slurm has it or without "after"; the error lists the short names.
func ParseCondition(s string) (Condition, error) {
	if c, err := conditions.parse("after", s); err == nil {
		return c, nil
	}
	return shortConditions.parse("after", s)
}

// Short is the name without "after": ok, any, notok, started.
func (c Condition) Short() string { return shortConditions.text(c) }

// MarshalText writes the name.
func (c Condition) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the name.
func (c *Condition) UnmarshalText(b []byte) (err error) {
	*c, err = ParseCondition(string(b))
	return err
}

// Unmet is what happens to a vjob with a dependency that can never be met.
type Unmet uint8

// The possible consequences.
const (
	UnmetFails Unmet = iota // it fails, with the reason
	UnmetHolds              // it is held until its owner or an administrator decides
	UnmetRuns               // it runs nevertheless
)

var unmets = names[Unmet]{UnmetFails: "fail", UnmetHolds: "hold", UnmetRuns: "run"}

// String is the lower-case name.
func (u Unmet) String() string { return unmets.text(u) }

// MarshalText writes the name.
func (u Unmet) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText reads the name.
func (u *Unmet) UnmarshalText(b []byte) (err error) {
	*u, err = unmets.parse("unmet", string(b))
	return err
}

// Outcome is how a vjob has ended.
type Outcome uint8

// The outcomes.
const (
	Open             Outcome = iota // it has not ended
	Completed                       // its guests shut themselves down, and their work succeeded
	WalltimeExceeded                // it reached its walltime
	Deleted                         // a user deleted it
	Broken                          // vjob gave it up: it could not be run
	Unsuccessful                    // its guests shut themselves down, and their work failed
)

var outcomes = names[Outcome]{Open: "open", Completed: "completed", WalltimeExceeded: "overdue", Deleted: "deleted", Broken: "broken", Unsuccessful: "failed"}

// String is the lower-case name.
func (o Outcome) String() string { return outcomes.text(o) }

// ParseOutcome reads the name; the error lists the valid names.
func ParseOutcome(s string) (Outcome, error) { return outcomes.parse("outcome", s) }

// MarshalText writes the name.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the name.
func (o *Outcome) UnmarshalText(b []byte) (err error) {
	*o, err = ParseOutcome(string(b))
	return err
}

// Met reports whether a vjob with that state, start and outcome meets the condition; open reports
// whether that can still change.
func (c Condition) Met(state State, started bool, how Outcome) (met, open bool) {
	if c == AfterStart {
		return started, !started && !state.Terminal()
	}
	if !state.Terminal() {
		return false, true
	}
	return c == AfterAny || (c == AfterOK) == (how == Completed), false
}
