package cluster

import (
	"maps"
	"slices"
	"time"
)

// Terms is on what terms its owner wants a vjob to run: what there is to ask for
// beside VMs, rules and a walltime. Its zero value is a rigid vjob that runs when its
// turn comes and may be suspended (thesis §2.2). Terms never change.
type Terms struct {
	Queue    string    `json:"queue,omitempty"`   // by its name; "" before it was routed to one
	Project  string    `json:"project,omitempty"` // for whom it counts beside its owner; "" is nobody
	Deadline time.Time `json:"deadline,omitzero"` // by when it should have ended; zero is whenever
	Floor    float64   `json:"floor,omitempty"`   // the least share of its CPU with which it is content, from 0 to 1; 0 is all of it

	BestEffort bool          `json:"best_effort,omitempty"` // runs in room that nobody else wants, and makes room first
	Yields     Yielding      `json:"yields,omitempty"`      // how it makes room for others
	MinRun     time.Duration `json:"min_run,omitempty"`     // for so long after each start and resume it makes no room

	// NotBefore is when it may be started first, and NotAfter when it has failed unless it has
	// started by then; zero is whenever.
	NotBefore time.Time `json:"not_before,omitzero"`
	NotAfter  time.Time `json:"not_after,omitzero"`

	// Flexible is by how much after its submission it may be started, for a lower price of
	// its energy; 0 is at once, if there is room.
	Flexible time.Duration `json:"flexible,omitempty"`

	Reservation time.Time `json:"reservation,omitzero"` // it has its room from then on, until its walltime is over; zero is none

	After []Dependency `json:"after,omitempty"` // all must be met before it may start
	Unmet Unmet        `json:"unmet,omitempty"` // what becomes of it when one never can be

	// AtOnce is how many vjobs of its array run or are suspended at once; 0 is all.
	AtOnce int `json:"at_once,omitempty"`

	// Led is that its first VM works for all: when that one's guest has shut itself down
	// the vjob has ended, and the others are ended with it.
	Led bool `json:"led,omitempty"`

	Idempotent bool   `json:"idempotent,omitempty"` // submitted again when it fails
	Container  bool   `json:"container,omitempty"`  // others may run in its room
	Inner      VJobID `json:"inner,omitempty"`      // the container in which it runs; 0 is none

	// Shapes are what a moldable vjob may be instead: the one that ends first is
	// taken. The first is what the vjob itself says.
	Shapes []Shape `json:"shapes,omitempty"`

	Notify []string          `json:"notify,omitempty"` // who is told of its states: "mail:ann@example.org", "https://…"
	Labels map[string]string `json:"labels,omitempty"` // words of those who submit, kept for them
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

// Yielding is how a vjob that runs makes room for others.
type Yielding uint8

// The ways to make room.
const (
	BySuspension Yielding = iota // it is suspended, and goes on later
	ByEnd                        // it is ended, and starts anew later
	Never                        // once it runs it is left alone
)

var yieldings = names[Yielding]{BySuspension: "suspend", ByEnd: "end", Never: "never"}

// String is the lower-case name.
func (y Yielding) String() string { return yieldings.text(y) }

// ParseYielding reads the name; the error lists the right ones.
func ParseYielding(s string) (Yielding, error) { return yieldings.parse("yields", s) }

// MarshalText writes the name.
func (y Yielding) MarshalText() ([]byte, error) { return []byte(y.String()), nil }

// UnmarshalText reads the name.
func (y *Yielding) UnmarshalText(b []byte) (err error) {
	*y, err = ParseYielding(string(b))
	return err
}

// Dependency is a condition on another vjob.
type Dependency struct {
	On    VJobID    `json:"on"`
	When  Condition `json:"when,omitempty"`
	Array bool      `json:"array,omitempty"` // on every vjob of the array On
}

// Condition is what of another vjob is waited for.
type Condition uint8

// The conditions.
const (
	AfterOK    Condition = iota // it ended well: its guests shut themselves down
	AfterAny                    // it ended
	AfterNotOK                  // it ended otherwise than well
	AfterStart                  // it has started
)

var conditions = names[Condition]{AfterOK: "afterok", AfterAny: "afterany", AfterNotOK: "afternotok", AfterStart: "after"}

// String is the lower-case name.
func (c Condition) String() string { return conditions.text(c) }

// ParseCondition reads the name; the error lists the right ones.
func ParseCondition(s string) (Condition, error) { return conditions.parse("after", s) }

// MarshalText writes the name.
func (c Condition) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the name.
func (c *Condition) UnmarshalText(b []byte) (err error) {
	*c, err = ParseCondition(string(b))
	return err
}

// Unmet is what becomes of a vjob of which a dependency can never be met any more.
type Unmet uint8

// What may become of it.
const (
	UnmetFails Unmet = iota // it fails, and tells why
	UnmetHolds              // it is held until somebody decides
	UnmetRuns               // it runs all the same
)

var unmets = names[Unmet]{UnmetFails: "fail", UnmetHolds: "hold", UnmetRuns: "run"}

// String is the lower-case name.
func (u Unmet) String() string { return unmets.text(u) }

// ParseUnmet reads the name; the error lists the right ones.
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
	Open      Outcome = iota // it has not ended
	Completed                // its guests shut themselves down
	Overdue                  // its walltime was over
	Deleted                  // somebody deleted it
	Broken                   // it failed
)

var outcomes = names[Outcome]{Open: "open", Completed: "completed", Overdue: "overdue", Deleted: "deleted", Broken: "broken"}

// String is the lower-case name.
func (o Outcome) String() string { return outcomes.text(o) }

// ParseOutcome reads the name; the error lists the right ones.
func ParseOutcome(s string) (Outcome, error) { return outcomes.parse("outcome", s) }

// MarshalText writes the name.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the name.
func (o *Outcome) UnmarshalText(b []byte) (err error) {
	*o, err = ParseOutcome(string(b))
	return err
}

// Met reports whether a vjob with such a state, start and outcome meets the condition,
// and whether that can still change.
func (c Condition) Met(state State, started bool, how Outcome) (met, open bool) {
	if c == AfterStart {
		return started, !started && !state.Terminal()
	}
	if !state.Terminal() {
		return false, true
	}
	return c == AfterAny || (c == AfterOK) == (how == Completed), false
}
