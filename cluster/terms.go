package cluster

import (
	"maps"
	"slices"
	"time"
)

// Terms are the requests of a submission beside VMs, rules and walltime. The zero value is a
// rigid vjob that runs when its turn comes and may be suspended (thesis §2.2). Terms never
// change.
type Terms struct {
	Queue    string    `json:"queue,omitempty"`   // "" before it was routed to one
	Project  string    `json:"project,omitempty"` // the project to which it is charged beside its owner, or ""
	Deadline time.Time `json:"deadline,omitzero"` // when it should have ended; zero is no deadline
	MinShare float64   `json:"floor,omitempty"`   // the least share of its CPU that it accepts, from 0 to 1; 0 is all of it

	BestEffort bool          `json:"best_effort,omitempty"` // runs on resources that no other vjob needs, and is preempted first
	Preemption Preemption    `json:"yields,omitempty"`      // how it is preempted
	MinRun     time.Duration `json:"min_run,omitempty"`     // not preempted for that long after each start and resume

	// NotBefore is its earliest start. At NotAfter it fails unless it has started. Zero is no
	// limit.
	NotBefore time.Time `json:"not_before,omitzero"`
	NotAfter  time.Time `json:"not_after,omitzero"`

	// Flexible is how long after its submission its start may be delayed for a lower energy
	// price; 0 is not at all.
	Flexible time.Duration `json:"flexible,omitempty"`

	Reservation time.Time `json:"reservation,omitzero"` // its resources are reserved from then on for its walltime; zero without a reservation

	After []Dependency `json:"after,omitempty"` // all must be met before it may start
	Unmet Unmet        `json:"unmet,omitempty"` // what happens if one can never be met

	// MaxConcurrent is how many vjobs of its array may run or be suspended at once; 0 is all.
	MaxConcurrent int `json:"at_once,omitempty"`

	// LeaderEnds says that its first VM decides: when the guest of the first VM shuts itself down, the
	// vjob has ended and its other VMs are stopped.
	LeaderEnds bool `json:"led,omitempty"`

	Idempotent bool   `json:"idempotent,omitempty"` // submitted again when it fails
	Container  bool   `json:"container,omitempty"`  // other vjobs may run on its resources
	Inner      VJobID `json:"inner,omitempty"`      // the container in which it runs, or 0

	// Shapes are the alternatives of a moldable vjob: the one that ends first is chosen. The
	// first is the shape of the vjob itself.
	Shapes []Shape `json:"shapes,omitempty"`

	Notify []string          `json:"notify,omitempty"` // addressees of its state changes: "mail:ann@example.org", "https://…"
	Labels map[string]string `json:"labels,omitempty"` // free texts of the user
}

// Shape is one alternative of a moldable vjob.
type Shape struct {
	VMs      []VM          `json:"vms"`
	Walltime time.Duration `json:"walltime"`
	Rules    string        `json:"rules,omitempty"`
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

var yieldings = names[Preemption]{BySuspension: "suspend", ByEnd: "end", Never: "never"}

// String is the lower-case name.
func (y Preemption) String() string { return yieldings.text(y) }

// ParsePreemption reads the name; the error lists the valid names.
func ParsePreemption(s string) (Preemption, error) { return yieldings.parse("yields", s) }

// MarshalText writes the name.
func (y Preemption) MarshalText() ([]byte, error) { return []byte(y.String()), nil }

// UnmarshalText reads the name.
func (y *Preemption) UnmarshalText(b []byte) (err error) {
	*y, err = ParsePreemption(string(b))
	return err
}

// Dependency is a condition on another vjob.
type Dependency struct {
	On    VJobID    `json:"on"`
	When  Condition `json:"when,omitempty"`
	Array bool      `json:"array,omitempty"` // on every vjob of the array On
}

// Condition is what a dependency requires of another vjob.
type Condition uint8

// The conditions.
const (
	AfterOK    Condition = iota // it completed: its guests shut themselves down
	AfterAny                    // it ended
	AfterNotOK                  // it ended without completing
	AfterStart                  // it has started
)

var conditions = names[Condition]{AfterOK: "afterok", AfterAny: "afterany", AfterNotOK: "afternotok", AfterStart: "after"}

// String is the lower-case name.
func (c Condition) String() string { return conditions.text(c) }

// ParseCondition reads the name; the error lists the valid names.
func ParseCondition(s string) (Condition, error) { return conditions.parse("after", s) }

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

// ParseUnmet reads the name; the error lists the valid names.
func ParseUnmet(s string) (Unmet, error) { return unmets.parse("unmet", s) }

// MarshalText writes the name.
func (u Unmet) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText reads the name.
func (u *Unmet) UnmarshalText(b []byte) (err error) {
	*u, err = ParseUnmet(string(b))
	return err
}

// Outcome is how a vjob has ended.
type Outcome uint8

// The outcomes.
const (
	Open             Outcome = iota // it has not ended
	Completed                       // its guests shut themselves down
	WalltimeExceeded                // it reached its walltime
	Deleted                         // a user deleted it
	Broken                          // it failed
)

var outcomes = names[Outcome]{Open: "open", Completed: "completed", WalltimeExceeded: "overdue", Deleted: "deleted", Broken: "broken"}

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
