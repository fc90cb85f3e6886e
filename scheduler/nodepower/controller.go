package nodepower

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/energy/power"
	"vjob/energy/power/cycle"
)

// ControllerSettings configure how nodes are switched. The zero value switches no nodes.
type ControllerSettings struct {
	Nodes  []cluster.NodeID // those that have a power driver
	Limits cycle.Limits
	Reply  time.Duration // how long a power driver may take to answer
}

// Executor observes nodes for the controller. PowerStates of package execute implements it.
type Executor interface {
	// Answers reports whether a node answers looks, and since when.
	Answers(node cluster.NodeID) (answers bool, since time.Time)
	// InUse returns what keeps a node from going off; "" if nothing.
	InUse(node cluster.NodeID) string
	// Set marks a node as not in use, with how often to look at it and what it draws meanwhile;
	// every 0 marks it as in use.
	Set(now time.Time, node cluster.NodeID, every time.Duration, draws energy.Watts)
	// Hint asks for a look.
	Hint(now time.Time, node cluster.NodeID)
}

// Controller switches nodes. It belongs to the core of the loop.
type Controller struct {
	limits cycle.Limits
	models map[cluster.NodeID]energy.Power
	exec   Executor
	out    *journal.Step // where records and events are written

	nodes  map[cluster.NodeID]*switchedNode
	moving map[cluster.NodeID]bool // those that are off, or on their way
	asks   []power.Request         // not yet fetched
	wake   time.Time               // when time alone takes a node further
}

// switchedNode is a node that can be switched, or could before the daemon restarted.
type switchedNode struct {
	record cycle.Record
	state  power.State
	asked  time.Time // when the driver has told the state
	tried  time.Time // when it was asked for anything
	busy   bool      // it has not answered yet
	// trouble is the last error of the driver, and holds what keeps the node from going off.
	trouble, holds string
}

// NewController makes a controller for the nodes in the settings that continues from the records of
// the journal. The models are what nodes draw, as far as they are known.
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

// Stuck returns the records of the nodes that were given up, in order.
func (b *Controller) Stuck() (list []cycle.Record) {
	for id, n := range b.nodes {
		if n.record.Phase == cycle.Stuck {
			list = append(list, b.nodes[id].record)
		}
	}
	slices.SortFunc(list, func(x, y cycle.Record) int { return cmp.Compare(x.Node, y.Node) })
	return list
}

// Fetch returns the requests to power drivers since the last call. They may be made once the step is
// committed.
func (b *Controller) Fetch() []power.Request {
	asks := b.asks
	b.asks = nil
	return asks
}

// Wake returns when time alone advances a node; zero is never.
func (b *Controller) Wake() time.Time { return b.wake }

// sooner asks for a step at an instant.
func (b *Controller) sooner(t time.Time) {
	if b.wake.IsZero() || t.Before(b.wake) {
		b.wake = t
	}
}

// follow updates the few nodes that may have a step to take.
func (b *Controller) follow(r cycle.Record) {
	if r.Phase == cycle.Stuck || r.Phase == cycle.On && r.Want == cycle.WantOn {
		delete(b.moving, r.Node)
	} else {
		b.moving[r.Node] = true
	}
}

// slowLook is how often a node is observed that is off or left alone: its power button may be
// pressed.
const slowLook = time.Minute

// rest tells the executor whether a node is in use.
func (b *Controller) rest(now time.Time, r cycle.Record) {
	every, draws, p := time.Duration(0), energy.Watts(0), b.models[r.Node]
	switch r.Phase {
	case cycle.Stopping, cycle.Starting:
		every = min(b.limits.Poll, slowLook)
		draws = p.On.Power()
		if r.Phase == cycle.Stopping {
			draws = p.Off.Power()
		}
	case cycle.Off, cycle.Stuck:
		every = slowLook
	case cycle.On, cycle.Emptying:
	}
	b.exec.Set(now, r.Node, every, draws)
}

// write records a node, with an event.
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
