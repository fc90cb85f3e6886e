// Package cycle is the way of one node from on to off and back, as a function of what
// is durable and what is seen: the next record to write down, and the next thing to
// ask of the node's power driver.
//
// It is level-triggered as package gang is: going on after a crash is the same code as
// going on after a reply. Each request for power is in the record before it is made,
// and a node counts as off, or as on again, only when it was seen to be.
//
// It refuses to know why a node is wanted off, other nodes, and how anything is placed.
package cycle

import (
	"time"

	"vjob/cluster"
)

// Record is what is durable of one node's power. The zero record is a node that is on
// and shall be so.
type Record struct {
	Node  cluster.NodeID
	Phase Phase
	Since time.Time // when the phase began; when the node came up, for On
	// Want is what the node is on its way to, and By who wants it.
	Want Want
	By   string
	// Attempt counts the requests of this phase, and Called is when the last of them
	// was written down, just before it was made.
	Attempt int
	Called  time.Time
	Reason  string // why it is on its way, or why it is stuck
}

// Want is what somebody wants of a node.
type Want uint8

// The wants.
const (
	WantOn Want = iota
	WantOff
)

// String is "on" or "off".
func (w Want) String() string { return [...]string{"on", "off"}[w] }

// Phase is how far a node has come.
type Phase uint8

// The phases.
const (
	On       Phase = iota // in use, as far as nothing else is decreed
	Emptying              // takes nothing, and what it holds is moved away
	Stopping              // holds nothing, and was asked to go off
	Off                   // was seen to be off
	Starting              // was asked to come up
	Stuck                 // did not go off or come up after all attempts: left alone until somebody orders otherwise
)

var phases = [...]string{"on", "emptying", "stopping", "off", "starting", "stuck"}

// String is the lower-case name.
func (p Phase) String() string { return phases[p] }

// ParsePhase reads the name of a phase.
func ParsePhase(s string) (Phase, error) {
	for p, name := range phases {
		if name == s {
			return Phase(p), nil
		}
	}
	return 0, cluster.BadField("phase", s, "on, emptying, stopping, off, starting or stuck")
}

// Switches reports whether the node is being switched, so that nothing may be placed
// on it even if it answers.
func (p Phase) Switches() bool { return p >= Stopping }

// State is how a node counts for placing VMs, whose decreed state is given: what an
// operator has decreed holds in every phase in which the node is on.
func (r *Record) State(decreed cluster.NodeState) cluster.NodeState {
	switch {
	case decreed == cluster.Down:
		return cluster.Down
	case r.Phase.Switches():
		return cluster.Offline
	case r.Phase == Emptying && decreed == cluster.Online:
		return cluster.Draining
	default:
		return decreed
	}
}
