package nodepower

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/energy/power"
	"vjob/energy/power/cycle"
)

// ControllerSettings say how nodes are switched off and on. The zero value switches none.
type ControllerSettings struct {
	Nodes  []cluster.NodeID // those that have a power driver
	Limits cycle.Limits
	Reply  time.Duration // how long a power driver may take to answer
}

// Executor is what the board asks and tells of a node. Package execute implements it.
type Executor interface {
	// Answers reports whether a node answers looks, and since when it does or not.
	Answers(node cluster.NodeID) (answers bool, since time.Time)
	// Holding says what keeps a node from going off; "" is nothing.
	Holding(node cluster.NodeID) string
	// Rest tells that a node is not in use, is to be looked at so often, and draws so
	// much meanwhile; every 0 is in use again.
	Rest(now time.Time, node cluster.NodeID, every time.Duration, draws energy.Watts)
	// Hint asks for a look.
	Hint(now time.Time, node cluster.NodeID)
}

// Controller is the nodes that can be switched. It belongs to the core of the loop.
type Controller struct {
	limits cycle.Limits
	models map[cluster.NodeID]energy.Power
	exec   Executor
	out    *journal.Step // where records and events are written

	nodes  map[cluster.NodeID]*switchedNode
	moving map[cluster.NodeID]bool // those that are off, or on their way
	asks   []power.Ask             // not yet fetched
	wake   time.Time               // when time alone takes a node further
}

// switchedNode is one node on the board: one that can be switched, or could when the daemon ran
// before.
type switchedNode struct {
	record cycle.Record
	state  power.State
	asked  time.Time // when the driver has told the state
	tried  time.Time // when it was asked for anything
	busy   bool      // it has not answered yet
	// trouble is what it said last, if that was an error, and holds what keeps the
	// node from going off.
	trouble, holds string
}

// NewController is the board of the nodes in the settings, which goes on from the records of the
// journal. The models are what nodes draw, as far as that is known.
func NewController(s *ControllerSettings, models map[cluster.NodeID]energy.Power, records []cycle.Record, exec Executor, out *journal.Step, now time.Time) *Controller {
	b := &Controller{
		limits: s.Limits, models: models, exec: exec, out: out,
		nodes: map[cluster.NodeID]*switchedNode{}, moving: map[cluster.NodeID]bool{},
	}
	for _, id := range s.Nodes {
		b.nodes[id] = &switchedNode{record: cycle.Record{Node: id}}
	}
	for _, r := range records {
		if b.nodes[r.Node] != nil || r.Phase != cycle.On {
			b.nodes[r.Node] = &switchedNode{record: r}
			b.rest(now, r)
			b.follow(r)
		}
	}
	return b
}

// Fetch are the asks for power drivers since the last time. They may be made once the step
// has been committed.
func (b *Controller) Fetch() []power.Ask {
	asks := b.asks
	b.asks = nil
	return asks
}

// Wake is when time alone takes a node further; zero is never.
func (b *Controller) Wake() time.Time { return b.wake }

// sooner asks for a step at an instant.
func (b *Controller) sooner(t time.Time) {
	if b.wake.IsZero() || t.Before(b.wake) {
		b.wake = t
	}
}

// follow keeps the list of nodes that there may be a step to take with: of thousands it
// has a few.
func (b *Controller) follow(r cycle.Record) {
	if r.Phase == cycle.Stuck || r.Phase == cycle.On && r.Want == cycle.WantOn {
		delete(b.moving, r.Node)
	} else {
		b.moving[r.Node] = true
	}
}

// slowLook is how often a node is looked at that is off or left alone: somebody may
// press its button.
const slowLook = time.Minute

// rest tells the executor whether a node is in use.
func (b *Controller) rest(now time.Time, r cycle.Record) {
	every, draws, p := time.Duration(0), energy.Watts(0), b.models[r.Node]
	switch r.Phase {
	case cycle.Stopping, cycle.Starting:
		every = min(b.limits.Poll, slowLook)
		if draws = p.On.Power(); r.Phase == cycle.Stopping {
			draws = p.Off.Power()
		}
	case cycle.Off, cycle.Stuck:
		every = slowLook
	case cycle.On, cycle.Emptying:
	}
	b.exec.Rest(now, r.Node, every, draws)
}

// write puts the record of a node down, with an event.
func (b *Controller) write(now time.Time, n *switchedNode, says string, alarm bool) {
	b.out.Power = append(b.out.Power, n.record)
	b.follow(n.record)
	if says == "" {
		return
	}
	kind := journal.EventNode
	if alarm {
		kind = journal.EventAlarm
	}
	b.out.Events = append(b.out.Events, journal.Event{At: now, Kind: kind, Node: n.record.Node, Text: says})
}
