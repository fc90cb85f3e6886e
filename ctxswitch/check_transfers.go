package ctxswitch

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
)

// transfers checks that no node carries more transfers at once than it may, those under way before the
// plan included. No dependency says so: it holds at the times of the plan, which it makes credible.
func (c *check) transfers() {
	limit := c.p.Transfers.Limit
	if limit == 0 {
		return
	}
	type change struct {
		at time.Duration
		by int
	}
	changes := map[cluster.NodeID][]change{}
	add := func(n cluster.NodeID, from, to time.Duration) {
		changes[n] = append(changes[n], change{from, 1}, change{to, -1})
	}
	for _, a := range c.plan.Actions {
		switch a.Kind {
		case cluster.Suspend:
			add(a.From, a.Start, a.End)
		case cluster.Resume:
			add(a.To, a.Start, a.End)
		case cluster.Migrate:
			add(a.From, a.Start, a.End)
			add(a.To, a.Start, a.End)
		default: // nothing is copied
		}
	}
	for _, n := range c.p.Current.Nodes() {
		planned, taken := len(changes[n.ID]) > 0, 0
		for _, until := range c.p.Transfers.busy(n.ID) {
			add(n.ID, 0, until)
		}
		slices.SortFunc(changes[n.ID], func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
		for _, change := range changes[n.ID] {
			if taken += change.by; planned && change.by > 0 && taken > limit {
				c.fault("node %s carries %d transfers at %s, its limit is %d", n.ID, taken, change.at, limit)
				break
			}
		}
	}
}
