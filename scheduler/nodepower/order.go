package nodepower

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/energy/power/cycle"
)

// Order switches a node off or on for a user. Off waits until the node is empty, however long that
// takes. A refusal is ErrConflict.
func (b *Controller) Order(now time.Time, node *cluster.Node, silent bool, want cycle.Want, by string) error {
	refuse := func(why string) error { return fmt.Errorf("node %s %s: %w", node.ID, why, cluster.ErrConflict) }
	n := b.nodes[node.ID]
	switch {
	case n == nil:
		return refuse("cannot be switched: the settings name no power driver for it (power.nodes)")
	case node.State == cluster.Down:
		return refuse("is down: set it online first")
	case want == cycle.WantOff && silent:
		return refuse("does not answer, so it is unknown what it holds")
	}
	if want == cycle.WantOn && n.record.Phase == cycle.On && n.record.Want == want {
		return nil
	}
	next, changed := cycle.Order(n.record, want, by, "by "+by, now)
	if !changed {
		return nil
	}
	began := n.record.Phase
	n.record = next
	b.write(now, n, fmt.Sprintf("node %s shall be %s: by %s", node.ID, want, by), false)
	if next.Phase != began {
		b.rest(now, next)
	}
	return nil
}

// Wish records what power management wants of a node.
func (b *Controller) Wish(now time.Time, id cluster.NodeID, want cycle.Want, why string) {
	n := b.nodes[id]
	next, changed := cycle.Order(n.record, want, "", why, now)
	if changed {
		n.record = next
		b.write(now, n, fmt.Sprintf("node %s shall be %s: %s", id, want, why), false)
		b.wake = now.Add(time.Millisecond) // there is a step to take
	}
}

// NodeStateSet drops the wish of power management for a node after an administrator has set another
// state.
func (b *Controller) NodeStateSet(now time.Time, id cluster.NodeID, state cluster.NodeState) {
	n := b.nodes[id]
	if n == nil || state == cluster.Online || n.record.By != "" || n.record.Want != cycle.WantOff || n.record.Phase != cycle.Emptying {
		return
	}
	n.record, _ = cycle.Order(n.record, cycle.WantOn, "", "", now)
	b.write(now, n, "", false)
}
