// Package power is the seam between decisions and power buttons: what a driver can do
// with the power of one node. Drivers live below it (energy/power/wol, energy/power/ipmi,
// energy/power/redfish, energy/power/command); hypervisor/simulated has one for its own nodes.
//
// One law shapes it, as it does package hypervisor: a reply is never the truth. An
// error does not say that nothing happened, and success does not say that the node has
// gone off or come up. Whoever switches looks afterwards: with [Driver.State], and
// whether the node answers.
//
// It refuses to know why a node is switched, and whether anything runs on it.
package power

import (
	"context"
	"errors"
	"time"

	"vjob/cluster"
)

// ErrRefused is what a driver answers when the device has understood and will not do
// it, e.g. because the password is wrong. Its text says why.
var ErrRefused = errors.New("refused")

// Driver switches one node. Its methods are safe for concurrent use, return when the
// context ends, and may be repeated: a node that is off already is off after Off. Errors
// never contain a secret.
type Driver interface {
	// On asks the node to start.
	On(ctx context.Context) error
	// Off asks the node to shut down, or cuts its power: nothing runs there any more
	// when it is called.
	Off(ctx context.Context) error
	// State asks whether the node has power. Unknown without an error: the driver has
	// no way to tell.
	State(ctx context.Context) (State, error)
}

// Fleet has the drivers of the nodes that can be switched. Other nodes are always on.
type Fleet map[cluster.NodeID]Driver

// State is whether a node has power, as its driver tells.
type State uint8

// The states of a node's power.
const (
	Unknown State = iota
	Off
	On
)

// String is the lower-case name.
func (s State) String() string { return [...]string{"unknown", "off", "on"}[s] }

// Verb is what is asked of a driver.
type Verb uint8

// The verbs.
const (
	Look Verb = iota // whether the node has power
	TurnOff
	TurnOn
)

// String is the lower-case name.
func (v Verb) String() string { return [...]string{"look", "off", "on"}[v] }

// Ask is something to ask of the driver of a node, and when that was decided.
type Ask struct {
	Node cluster.NodeID
	Verb Verb
	At   time.Time
}

// Do does what a verb says. The state is that of Look, else Unknown.
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
