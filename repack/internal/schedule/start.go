package schedule

import (
	"slices"
)

// A unit of tasks may start in this instant if its gang, gates, watches, room, transfer slots and
// links allow it.

// admits reports whether all tasks of a unit may start now.
func (c *simulation) admits(u int) bool {
	tasks := c.units[u].tasks
	if !c.gangs.idle(u) || c.giversFirst && !c.freesRoom(u) {
		return false
	}
	if len(tasks) == 1 {
		return c.mayStart(tasks[0]) && c.slots.admit(u) && c.traffic.setRates(u)
	}
	return slices.IndexFunc(tasks, func(i int) bool { return !c.mayStart(i) }) < 0 && len(c.startable(tasks)) == len(tasks) && c.slots.admit(u) && c.traffic.setRates(u)
}

// mayStart reports whether a task may start now, transfer slots and links aside.
func (c *simulation) mayStart(i int) bool {
	t := &c.tasks[i]
	for _, g := range c.GatesOf[t.vm] {
		if !c.Gates[g].May(t.vm, t.kind, c.clock) {
			return false
		}
	}
	return !t.comes() || c.switching.on[t.to] && c.monitors.Admits(t.vm, t.to) && c.hasRoom(t.vm, t.to)
}

// startable returns the tasks that may start now beside those before them. Nothing changes.
func (c *simulation) startable(tasks []int) (some []int) {
	for _, i := range tasks {
		if c.mayStart(i) && c.traffic.carries(append(some, i)) {
			c.reserve(i)
			some = append(some, i)
		}
	}
	for _, i := range slices.Backward(some) {
		c.unreserve(i)
	}
	return some
}

// reserve takes the room of a task, and tells gates and watches.
func (c *simulation) reserve(i int) {
	t := &c.tasks[i]
	for _, g := range c.GatesOf[t.vm] {
		c.Gates[g].Started(t.vm, t.kind, c.clock)
	}
	if t.comes() {
		c.occupy(t.vm, t.to, -1)
		c.monitors.come(t.vm, t.to)
	}
}

// unreserve undoes reserve.
func (c *simulation) unreserve(i int) {
	t := &c.tasks[i]
	for _, g := range c.GatesOf[t.vm] {
		c.Gates[g].Undo(t.vm, t.kind)
	}
	if t.comes() {
		c.occupy(t.vm, t.to, 1)
		c.monitors.left(t.vm, t.to)
	}
}

// haveRoom reports whether all tasks could come now. Nothing changes.
func (c *simulation) haveRoom(tasks []int) bool {
	ok, taken := true, 0
	for _, i := range tasks {
		t := &c.tasks[i]
		if t.comes() && !c.hasRoom(t.vm, t.to) {
			ok = false
			break
		}
		if t.comes() {
			c.occupy(t.vm, t.to, -1)
		}
		taken++
	}
	for _, i := range tasks[:taken] {
		if t := &c.tasks[i]; t.comes() {
			c.occupy(t.vm, t.to, 1)
		}
	}
	return ok
}
