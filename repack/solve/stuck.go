package solve

import (
	"fmt"
)

// waits says what a task waits for.
func (c *schedule) waits(t *task) string {
	text := fmt.Sprintf("%s waits to %s", c.in.VMName(t.vm), t.kind)
	if t.leaves() {
		text += " from " + c.in.NodeName(t.from)
	}
	if t.comes() {
		text += " to " + c.in.NodeName(t.to)
	}
	return text
}

// narrow says that what must start together needs more of a link than it has, at the
// lowest rates.
func (c *schedule) narrow() string {
	for u := range c.units {
		tasks := c.units[u].tasks
		if c.traffic == nil || !c.units[u].waiting || len(tasks) < 2 || c.bears(tasks) {
			continue
		}
		load := c.load(tasks)
		l, need := c.traffic.obstacle(load, load.longest(), c.traffic.whole)
		text := fmt.Sprintf("%d VMs must %s together", len(tasks), c.list[tasks[0]].kind)
		if g := c.gang[c.list[tasks[0]].vm]; g >= 0 {
			text = fmt.Sprintf("the %d VMs of gang %d must %s together", len(tasks), g, c.list[tasks[0]].kind)
		}
		return fmt.Sprintf("%s: that takes %d of %s at least, which has %d", text, need, c.in.LinkName(l), c.in.Bandwidth(l))
	}
	return ""
}
