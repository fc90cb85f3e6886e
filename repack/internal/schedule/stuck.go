package schedule

import (
	"cmp"
	"fmt"

	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
)

// Stuck simulates the placement and returns in words why tasks never start; nil if all start.
func Stuck(s *placement.State) (why []string) {
	c := simulate(s, nil, false)
	if c.pending == 0 {
		return nil
	}
	for i := range c.tasks {
		if t := &c.tasks[i]; !t.started && len(why) < problem.MaxReasons {
			why = append(why, c.waitText(t))
		}
	}
	if narrow := cmp.Or(c.narrowLinkText(), c.fewSlotsText()); narrow != "" {
		return append(why, narrow)
	}
	return append(why, "they wait for each other, and no other node has the room to let one of them pass; VMs that may be suspended for a while (sleepable) could")
}

// waitText says what a task waits to do.
func (c *simulation) waitText(t *task) string {
	text := fmt.Sprintf("%s waits to %s", c.In.VMName(t.vm), t.kind)
	if t.leaves() {
		text += " from " + c.In.NodeName(t.from)
	}
	if t.comes() {
		text += " to " + c.In.NodeName(t.to)
	}
	return text
}

// narrowLinkText says that tasks that must start together need more of a link than it has,
// even at the lowest rates.
func (c *simulation) narrowLinkText() string {
	for u := range c.units {
		tasks := c.units[u].tasks
		if c.traffic == nil || !c.units[u].waiting || len(tasks) < 2 || c.linksCarry(tasks) {
			continue
		}
		load := c.load(tasks)
		l, need := c.traffic.obstacle(load, load.longest(), c.traffic.whole)
		text := fmt.Sprintf("%d VMs must %s together", len(tasks), c.tasks[tasks[0]].kind)
		if g := c.GangOf[c.tasks[tasks[0]].vm]; g >= 0 {
			text = fmt.Sprintf("the %d VMs of gang %d must %s together", len(tasks), g, c.tasks[tasks[0]].kind)
		}
		return fmt.Sprintf("%s: that takes %d of %s at least, which has %d", text, need, c.In.LinkName(l), c.In.Bandwidth(l))
	}
	return ""
}

// fewSlotsText says that tasks that must start at once need more transfer slots than a node has.
func (c *simulation) fewSlotsText() string {
	if c.slots == nil {
		return ""
	}
	for u := range c.units {
		unit := &c.units[u]
		if !unit.waiting || !unit.ruled {
			continue
		}
		for n, node := range c.In.Nodes {
			if need := c.slots.tasksOn(c.tasks, unit.tasks, n); node.Transfers > 0 && need > node.Transfers {
				return fmt.Sprintf("%d VMs must %s at once: %s carries %d transfers at once", need, c.tasks[unit.tasks[0]].kind, c.In.NodeName(n), node.Transfers)
			}
		}
	}
	return ""
}
