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

// Switch is how far a node has come that can be switched, for people.
type Switch struct {
	Phase cycle.Phase
	Since time.Time
	Want  cycle.Want
	By    string // who wants it; "" for nobody in person
	// Problem is why the node does not get on, or why it is left alone.
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

// Record is what is durable of a node that can be switched; nil: it cannot be. It is not
// to be changed.
func (b *Controller) Record(id cluster.NodeID) *cycle.Record {
	if n := b.nodes[id]; n != nil {
		return &n.record
	}
	return nil
}

// Nodes are those that can be switched, in no order.
func (b *Controller) Nodes() iter.Seq[cluster.NodeID] { return maps.Keys(b.nodes) }

// State is how a node of which a state is decreed counts for placing VMs.
func (b *Controller) State(id cluster.NodeID, decreed cluster.NodeState) cluster.NodeState {
	if n := b.nodes[id]; n != nil {
		return n.record.State(decreed)
	}
	return decreed
}

// Booting is what a node draws while it comes on, and once it has; 0 if nobody knows.
func (b *Controller) Booting(id cluster.NodeID) energy.Watts {
	p := b.models[id]
	return max(p.Idle, p.On.Power())
}

// Least is what a node draws at least, whatever its VMs do, since it is being switched;
// of one that is left alone nobody knows how far it has come.
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

// Draws is what nodes draw at least, each by [Controller.Least], but for those of which that is
// nothing.
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

// Awaited are the nodes that are off and shall come on, in order, of which it is known
// what they draw.
func (b *Controller) Awaited() (list []cluster.NodeID) {
	for _, id := range slices.Sorted(maps.Keys(b.moving)) {
		_, known := b.models[id]
		if r := &b.nodes[id].record; known && r.Phase == cycle.Off && r.Want == cycle.WantOn {
			list = append(list, id)
		}
	}
	return list
}
