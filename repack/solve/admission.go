package solve

import (
	"slices"
)

// Whether a unit of tasks may start in this instant: its gang, gates, watches, room
// and links have a say.

// admits reports whether all tasks of a unit may start now.
func (c *schedule) admits(u int) bool {
	tasks := c.units[u].tasks
	if !c.atEase(u) || c.patient && !c.gives(u) {
		return false
	}
	if len(tasks) == 1 {
		return c.may(tasks[0]) && c.pace(u)
	}
	return slices.IndexFunc(tasks, func(i int) bool { return !c.may(i) }) < 0 && len(c.company(tasks)) == len(tasks) && c.pace(u)
}

// may reports whether nothing but the links keeps a task from starting now.
func (c *schedule) may(i int) bool {
	t := &c.list[i]
	for _, g := range c.gatesOf[t.vm] {
		if !c.gates[g].May(t.vm, t.kind, c.clock) {
			return false
		}
	}
	return !t.comes() || c.on[t.to] && c.eye.admits(t.vm, t.to) && c.hasRoom(t.vm, t.to)
}

// company are those of some tasks that may start now beside those before them. Nothing
// changes.
func (c *schedule) company(tasks []int) (some []int) {
	for _, i := range tasks {
		if c.may(i) && c.bears(append(some, i)) {
			c.rehearse(i)
			some = append(some, i)
		}
	}
	for _, i := range slices.Backward(some) {
		c.forget(i)
	}
	return some
}

// rehearse has a task take its room, and be seen by gates and watches.
func (c *schedule) rehearse(i int) {
	t := &c.list[i]
	for _, g := range c.gatesOf[t.vm] {
		c.gates[g].Started(t.vm, t.kind, c.clock)
	}
	if t.comes() {
		c.occupy(t.vm, t.to, -1)
		c.eye.come(t.vm, t.to)
	}
}

// forget takes that back.
func (c *schedule) forget(i int) {
	t := &c.list[i]
	for _, g := range c.gatesOf[t.vm] {
		c.gates[g].Undo(t.vm, t.kind)
	}
	if t.comes() {
		c.occupy(t.vm, t.to, 1)
		c.eye.gone(t.vm, t.to)
	}
}
