package scheduler

import (
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/energy"
	"vjob/power/cycle"
	"vjob/scheduler/pass"
)

// power is what a node draws.
func (c *Core) power(n *execute.NodeReport) NodePower {
	if _, known := c.settings.Energy.Power[n.ID]; !known {
		return NodePower{}
	}
	return NodePower{Known: true, Now: n.Watts, Most: c.mostOf(n.ID, 0), Drawn: energy.Joules(n.Joules)}
}

// boots is what a node draws while it comes on, and once it has.
func boots(p *energy.Power) energy.Watts { return max(p.Idle, p.On.Power()) }

// least is what a node draws at least, whatever its VMs do, since it is being switched;
// of one that is left alone nobody knows how far it has come.
func (c *Core) least(id cluster.NodeID) energy.Watts {
	p, known := c.settings.Energy.Power[id]
	s := c.switches[id]
	if !known || s == nil {
		return 0
	}
	switch s.record.Phase {
	case cycle.Starting, cycle.Stuck:
		return boots(&p)
	case cycle.Stopping:
		return max(p.Idle, p.Off.Power())
	case cycle.On, cycle.Emptying, cycle.Off:
	}
	return 0
}

// switching is what nodes draw at least that are being switched, and those that are off
// and shall come on.
func (c *Core) switching() (least map[cluster.NodeID]energy.Watts, wanted []pass.Wanted) {
	least = map[cluster.NodeID]energy.Watts{}
	for id := range c.moving {
		if w := c.least(id); w > 0 {
			least[id] = w
		}
	}
	for id, s := range c.switches {
		if s.record.Phase == cycle.Stuck {
			least[id] = c.least(id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.moving)) {
		p, known := c.settings.Energy.Power[id]
		if r := &c.switches[id].record; known && r.Phase == cycle.Off && r.Want == cycle.WantOn {
			wanted = append(wanted, pass.Wanted{Node: id, Watts: boots(&p)})
		}
	}
	return least, wanted
}

// onAgain is when a node is tried again that could not be switched on for want of power.
const onAgain = 30 * time.Second

// affordsOn reports whether the limits leave the power for switching a node on.
func (c *Core) affordsOn(id cluster.NodeID) bool {
	p, known := c.settings.Energy.Power[id]
	if !known {
		return true
	}
	n, _ := c.exec.Node(id)
	for _, l := range c.limits {
		sum := max(boots(&p), c.mostOf(id, 0))
		for _, other := range c.members(l.Group) {
			if other != id {
				sum += c.mostOf(other, 0)
			}
		}
		if l.Group.Has(n.Labels) && sum > l.Watts {
			return false
		}
	}
	return true
}

// mostOf is the most that a node may draw while its VMs use so much more than what they
// may. One that is being switched draws what that takes on average; for one that shall
// come on it is kept.
func (c *Core) mostOf(id cluster.NodeID, more cluster.MilliCPU) energy.Watts {
	return max(c.exec.Ceiling(id, more), c.least(id), c.kept[id])
}
