package scheduler

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/energy"
	"vjob/power/cycle"
)

// power is what a node draws.
func (c *Core) power(n *execute.NodeReport) NodePower {
	if _, known := c.settings.Energy.Power[n.ID]; !known {
		return NodePower{}
	}
	return NodePower{Known: true, Now: n.Watts, Most: c.mostOf(n.ID, 0), Drawn: energy.Joules(n.Joules)}
}

// onAgain is when a node is tried again that could not be switched on for want of power.
const onAgain = 30 * time.Second

// affordsOn reports whether the limits leave the power for switching a node on.
func (c *Core) affordsOn(id cluster.NodeID) bool {
	p, known := c.settings.Energy.Power[id]
	if !known {
		return true
	}
	more := max(p.Idle, p.On.Power()) - p.Standby
	n, _ := c.exec.Node(id)
	for _, l := range c.limits {
		sum := more
		for _, other := range c.members(l.Group) {
			sum += c.mostOf(other, 0)
		}
		if l.Group.Has(n.Labels) && sum > l.Watts {
			return false
		}
	}
	return true
}

// mostOf is the most that a node may draw while its VMs use so much more than what they
// may. One that is being switched draws what that takes on average.
func (c *Core) mostOf(id cluster.NodeID, more cluster.MilliCPU) energy.Watts {
	most := c.exec.Ceiling(id, more)
	if s := c.switches[id]; s != nil && (s.record.Phase == cycle.Starting || s.record.Phase == cycle.Stopping) {
		p := c.settings.Energy.Power[id]
		most = max(most, p.Idle, p.On.Power(), p.Off.Power())
	}
	return most
}
