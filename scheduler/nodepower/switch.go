package nodepower

import (
	"iter"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/power/cycle"
)

// Switch is the switching state of a node.
type Switch struct {
	Phase cycle.Phase
	Since time.Time
	Want  cycle.Want
	By    string // the user; "" is power management
	// Problem is why the node does not advance, or why it is left alone.
	Problem string
}

// Switch is nil for a node that cannot be switched.
func (b *Controller) Switch(id cluster.NodeID) *Switch {
	n := b.nodes[id]
	if n == nil {
		return nil
	}
	r := &n.record
	s := &Switch{Phase: r.Phase, Since: r.Since, Want: r.Want, By: r.By}
	switch r.Phase {
	case cycle.Emptying:
		s.Problem = n.holds
	case cycle.Stopping, cycle.Starting:
		s.Problem = n.trouble
	case cycle.Stuck:
		s.Problem = r.Reason
	case cycle.On, cycle.Off:
		s.Problem = ""
	}
	return s
}

// Record returns the durable record of a node, or nil if it cannot be switched. The caller must not
// change it.
func (b *Controller) Record(id cluster.NodeID) *cycle.Record {
	if n := b.nodes[id]; n != nil {
		return &n.record
	}
	return nil
}

// Nodes yields the nodes that can be switched, in no order.
func (b *Controller) Nodes() iter.Seq[cluster.NodeID] { return maps.Keys(b.nodes) }

// State returns the state in which a node counts for placement, given its administrative state.
func (b *Controller) State(id cluster.NodeID, state cluster.NodeState) cluster.NodeState {
	if n := b.nodes[id]; n != nil {
		return n.record.State(state)
	}
	return state
}

// Booting returns what a node draws while it comes on and after that; 0 if unknown.
func (b *Controller) Booting(id cluster.NodeID) energy.Watts {
	p := b.models[id]
	return max(p.Idle, p.On.Power())
}

// Least returns what a node draws at least while it is being switched. A node that is left alone may
// be at any point of that.
func (b *Controller) Least(id cluster.NodeID) energy.Watts {
	p, known := b.models[id]
	n := b.nodes[id]
	if !known || n == nil {
		return 0
	}
	switch n.record.Phase {
	case cycle.Starting, cycle.Stuck:
		return b.Booting(id)
	case cycle.Stopping:
		return max(p.Idle, p.Off.Power())
	case cycle.On, cycle.Emptying, cycle.Off:
	}
	return 0
}

// Draws returns the nodes that draw something by [Controller.Least].
func (b *Controller) Draws() map[cluster.NodeID]energy.Watts {
	least := map[cluster.NodeID]energy.Watts{}
	for id, n := range b.nodes {
		if !b.moving[id] && n.record.Phase != cycle.Stuck {
			continue
		}
		if w := b.Least(id); w > 0 {
			least[id] = w
		}
	}
	return least
}

// Awaited returns the nodes with a power model that are off and should come on, in order.
func (b *Controller) Awaited() (list []cluster.NodeID) {
	for _, id := range slices.Sorted(maps.Keys(b.moving)) {
		_, known := b.models[id]
		if r := &b.nodes[id].record; known && r.Phase == cycle.Off && r.Want == cycle.WantOn {
			list = append(list, id)
		}
	}
	return list
}
