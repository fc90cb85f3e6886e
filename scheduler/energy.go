package scheduler

import (
	"vjob/ctxswitch/execute"
	"vjob/energy"
)

// power is what a node draws.
func (c *Core) power(n *execute.NodeReport) NodePower {
	if _, known := c.settings.Power[n.ID]; !known {
		return NodePower{}
	}
	return NodePower{
		Known: true, Now: n.Watts, Most: c.exec.Ceiling(n.ID, 0), Drawn: energy.Joules(n.Joules),
	}
}
