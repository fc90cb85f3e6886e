// Package power defines the driver that controls the power of one node. The drivers are in package
// [vjob/energy/power/driver]; hypervisor/simulated has one for its own nodes.
//
// A reply proves nothing, as in package hypervisor: an error does not mean that nothing
// happened, and success does not mean that the node is off or up. The caller verifies
// afterwards, with [Driver.State] and whether the node answers.
package power

import (
	"context"
	"errors"
	"time"

	"vjob/cluster"
)

// ErrRefused is returned if the device understood a request and rejected it, e.g. because the
// password is wrong. The error text has the reason.
var ErrRefused = errors.New("refused")

// Driver switches one node. Its methods are safe for concurrent use, return when the
// context ends, and may be repeated: a node that is off already is off after Off. Errors
// never contain a secret.
type Driver interface {
	// On asks the node to start.
	On(ctx context.Context) error
	// Off asks the node to shut down, or cuts its power. Callers empty the node first.
	Off(ctx context.Context) error
	// State asks whether the node has power. It returns Unknown without an error if the driver
	// cannot tell.
	State(ctx context.Context) (State, error)
}

// Drivers has the drivers of the nodes that can be switched. Other nodes are always on.
type Drivers map[cluster.NodeID]Driver

// State is whether a node has power, as its driver reports.
type State uint8

// The states of a node's power.
const (
	Unknown State = iota
	Off
	On
)

// String is the lower-case name.
func (s State) String() string { return [...]string{"unknown", "off", "on"}[s] }

// Verb is a request to a driver.
type Verb uint8

// The verbs.
const (
	Query Verb = iota // whether the node has power
	TurnOff
	TurnOn
)

// String is the lower-case name.
func (v Verb) String() string { return [...]string{"look", "off", "on"}[v] }

// Request is a request to the driver of a node, and when it was decided.
type Request struct {
	Node cluster.NodeID
	Verb Verb
	At   time.Time
}

// Do carries out a verb. It returns the state for Look, else Unknown.
func Do(ctx context.Context, d Driver, v Verb) (State, error) {
	switch v {
	case TurnOff:
		return Unknown, d.Off(ctx)
	case TurnOn:
		return Unknown, d.On(ctx)
	default:
		return d.State(ctx)
	}
}
