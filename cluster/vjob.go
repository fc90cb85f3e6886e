package cluster

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// VJobID numbers vjobs in the order of their submission, from 1.
type VJobID int64

// String is the decimal number.
func (id VJobID) String() string { return strconv.FormatInt(int64(id), 10) }

// ParseVJobID reads a positive decimal number.
func ParseVJobID(s string) (VJobID, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 {
		return 0, BadField("vjob", s, "the number of a vjob, such as 12")
	}
	return VJobID(n), nil
}

// VJob is a group of VMs that run together: the unit of submission, of
// scheduling and of the context switch.
type VJob struct {
	ID        VJobID
	Name      string // free text of the owner, unique among the owner's live vjobs
	Owner     string
	Origin    Origin // where it was submitted; the zero value in lists
	Submitted time.Time
	Priority  int           // larger runs first; equal ones in order of ID
	Walltime  time.Duration // of running time, suspensions excluded; 0 is unlimited
	VMs       []VM          // in rank order, VMs[i].ID.Rank == i
	Rules     string        // placement rules in the language of docs/reference/rules.md; its VMs are VM0, VM1, …
	*Terms                  // never nil; the vjobs of a submission share them
	Shape     int           // the index of its current shape, if it has several

	Array     VJobID // the first vjob of its array, or 0
	Index     int    // its index in the array, from 1
	Parameter string // its parameter in the array
	Replaces  VJobID // the failed vjob of which it is the next attempt, or 0
	Attempts  int    // how many attempts failed before it

	State   State
	Held    bool       // not to be selected: a waiting vjob keeps waiting, a running one is suspended
	Hold    *Cause     // why it is held
	Cause   *Cause     // why it is in this state
	Outcome Outcome    // how it has ended
	Exit    ExitStatus // of its work; zero unless that has ended by itself
	Version int        // +1 at every change of State or Held
}

// Reserved is the sum of the members' reservations.
func (j *VJob) Reserved() Resources { return Reserved(j.VMs) }

// Reserved is the sum of the reservations of VMs.
func Reserved(vms []VM) Resources {
	var sum Resources
	for i := range vms {
		sum = sum.Plus(vms[i].Reserved)
	}
	return sum
}

// WithShape returns the vjob in another of its shapes.
func (j *VJob) WithShape(shape int) *VJob {
	c, s := j.Clone(), j.Shapes[shape]
	c.Shape, c.Walltime, c.Rules, c.VMs = shape, s.Walltime, s.Rules, slices.Clone(s.VMs)
	for rank := range c.VMs {
		c.VMs[rank].ID = VMID{VJob: j.ID, Rank: rank}
	}
	return c
}

// Clone copies the vjob so that neither copy sees changes to the other's VMs.
// Terms, payloads and causes are shared: they never change.
func (j *VJob) Clone() *VJob {
	c := *j
	c.VMs = slices.Clone(j.VMs)
	return &c
}

// OwnTerms gives the vjob a copy of its terms, and returns it for the caller to change at once: other vjobs and other versions
// of this one keep theirs. Lists and maps in it are still those of the others: they are replaced, not changed.
func (j *VJob) OwnTerms() *Terms {
	own := *j.Terms
	j.Terms = &own
	return j.Terms
}

// State is the state of a vjob in its life cycle: the stable states and the transitional states
// during actions.
type State uint8

// The states of a vjob. Waiting, Paused and Suspended together are "ready".
const (
	Waiting    State = iota // no VM exists yet
	Booting                 // members are being created
	Running                 // every member runs
	Suspending              // members are paused, then saved unless they stay in memory
	Paused                  // every member is paused on its node: memory is used, and no CPU
	Suspended               // every member is an image on disk, nothing uses a node
	Resuming                // members are restored if they were saved, then unpaused
	Migrating               // members change nodes
	Stopping                // members are being destroyed
	Terminated              // ended: by itself, by its owner or at its walltime
	Failed                  // ended by a failure; Cause says why
)

var states = names[State]{
	Waiting: "waiting", Booting: "booting", Running: "running", Suspending: "suspending",
	Paused: "paused", Suspended: "suspended", Resuming: "resuming", Migrating: "migrating", Stopping: "stopping",
	Terminated: "terminated", Failed: "failed",
}

// String is the lower-case name of the state.
func (s State) String() string { return states.text(s) }

// Clause is what a text says of a vjob in the state: "is waiting", "has ended", "has failed".
func (s State) Clause() string {
	switch s {
	case Terminated:
		return "has ended"
	case Failed:
		return "has failed"
	default:
		return "is " + s.String()
	}
}

// ParseState reads the name of a state; the error lists the valid names.
func ParseState(s string) (State, error) { return states.parse("state", s) }

// MarshalText writes the name of the state.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name of a state.
func (s *State) UnmarshalText(b []byte) (err error) {
	*s, err = ParseState(string(b))
	return err
}

// Terminal reports whether the state is final.
func (s State) Terminal() bool { return s == Terminated || s == Failed }

// Ready reports whether the vjob could be chosen to run (thesis §6.1.1).
func (s State) Ready() bool { return s == Waiting || s == Paused || s == Suspended }

// Stable reports whether no action is in progress.
func (s State) Stable() bool { return s.Terminal() || s.Ready() || s == Running }

// edges is the state diagram of a vjob: thesis figure 6.1 with the transitional states, and with
// suspension in memory. The migration of a paused gang ends in Resuming; a failed action returns
// to where it began. A lost vjob that waits is restored from kept images through Suspending. A
// gang that was turned back during a suspension and cannot be restored is suspended nevertheless.
var edges = map[State][]State{
	Waiting:    {Booting, Suspending, Terminated, Failed},
	Booting:    {Running, Stopping},
	Running:    {Suspending, Migrating, Stopping},
	Suspending: {Paused, Suspended, Resuming, Stopping},
	Paused:     {Suspending, Resuming, Stopping},
	Suspended:  {Resuming, Stopping},
	Resuming:   {Running, Suspending, Paused, Suspended, Stopping},
	Migrating:  {Running, Resuming, Stopping},
	Stopping:   {Waiting, Terminated, Failed},
	Terminated: {},
	Failed:     {},
}

// CanBecome reports whether the state diagram has the edge from s to next.
func (s State) CanBecome(next State) bool { return slices.Contains(edges[s], next) }

// Become moves the vjob along one edge of the state diagram. Without such an edge it returns
// [ErrConflict] and changes nothing.
func (j *VJob) Become(next State, cause *Cause) error {
	if !j.State.CanBecome(next) {
		return fmt.Errorf("vjob %s: %s cannot become %s: %w", j.ID, j.State, next, ErrConflict)
	}
	j.State, j.Cause = next, cause
	j.Version++
	return nil
}
