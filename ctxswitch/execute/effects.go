package execute

import (
	"errors"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// Effects is what is to happen next, in this order: commit the step, then make
// the calls and looks. Nothing is to be called when the commit fails.
type Effects struct {
	Step      journal.Step
	Chains    []Chain
	Looks     []cluster.NodeID
	Missing   map[cluster.NodeID][]hypervisor.Guest // to ask for in these looks
	LookStore bool
	Wake      time.Time // Tick is wanted by then; zero when there is nothing to wait for
}

// expect makes room for a plan of so many actions: as a rule each is marked, and is a call.
func (e *Effects) expect(actions int) {
	e.Step.Actions = slices.Grow(e.Step.Actions, actions)
	e.Step.Intents = slices.Grow(e.Step.Intents, actions)
	e.Chains = slices.Grow(e.Chains, actions)
}

// askFor has the look at a node ask for missing guests.
func (e *Effects) askFor(id cluster.NodeID, guests []hypervisor.Guest) {
	if e.Missing == nil {
		e.Missing = map[cluster.NodeID][]hypervisor.Guest{}
	}
	e.Missing[id] = append(e.Missing[id], guests...)
}

// Append adds the effects of a later [Executor.Flush].
func (e *Effects) Append(later *Effects) {
	e.Step.Append(&later.Step)
	e.Chains = append(e.Chains, later.Chains...)
	e.Looks = append(e.Looks, later.Looks...)
	for id, guests := range later.Missing {
		e.askFor(id, guests)
	}
	e.LookStore = e.LookStore || later.LookStore
	if e.Wake.IsZero() || !later.Wake.IsZero() && later.Wake.Before(e.Wake) {
		e.Wake = later.Wake
	}
}

// Chain is calls to be made in order, each after the one before ended well; the
// replies to those behind a failure are [ErrNotTried].
type Chain struct {
	Calls    []hypervisor.Call
	Deadline []time.Duration // of each call, from its own start
}

// Reply is what came back from a call.
type Reply struct {
	Op           hypervisor.OpID
	Receipt      hypervisor.Receipt
	Err          error
	Began, Ended time.Time
}

// ErrNotTried is the reply to the calls of a chain behind one that failed.
var ErrNotTried = errors.New("not tried: the call before it failed")
