// Package cycle is the power state machine of one node, as a function of its durable record
// and of what is observed: it returns the next record to write, and the next request to the
// node's power driver.
//
// It is level-triggered, as package gang is: recovery after a crash is the same code as going
// on after a reply. Each request is in the record before it is made, and a node counts as off,
// or as on again, only when that was observed.
package cycle

import (
	"time"

	"vjob/cluster"
)

// Record is the durable part of one node's power state. The zero record is a node that is on
// and wanted on.
type Record struct {
	Node  cluster.NodeID
	Phase Phase
	Since time.Time // when the phase began; when the node came up, for On
	// Want is the target state, and By the user or policy that set it.
	Want Want
	By   string
	// Attempt counts the requests of this phase, and Called is when the last of them
	// was written down, just before it was made.
	Attempt     int
	RequestedAt time.Time
	Reason      string // why the target was set, or why the node is stuck
}

// Want is the target state of a node.
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
	On       Phase = iota // in use, unless an administrator decided otherwise
	Emptying              // takes no VMs, and its own are moved away
	Stopping              // empty, and was asked to go off
	Off                   // was observed to be off
	Starting              // was asked to come up
	Stuck                 // did not go off or come up after all attempts: left alone until the next order
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

// Switches reports whether the node is being switched: no VM may be placed on it, even if it
// answers.
func (p Phase) Switches() bool { return p >= Stopping }

// State is the state of a node for placement, given the state that an administrator set, which
// applies in every phase in which the node is on.
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
