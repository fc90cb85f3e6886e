package solve

import (
	"container/heap"
	"slices"

	"vjob/repack"
)

// How a schedule switches nodes: off once they are empty, and on at first, or as soon
// as the limits on how many may be on allow it.

// powerUp has the nodes switched on that shall be, and those off that can be at once.
func (c *schedule) powerUp() {
	c.lit = make([]int, len(c.limits))
	for i, l := range c.limits {
		for _, n := range l.nodes {
			if c.in.Nodes[n].State == repack.Online {
				c.lit[i]++
			}
		}
	}
	for n := range c.in.Nodes {
		if c.in.Nodes[n].State == repack.Offline && c.power.on[n] {
			c.dark = append(c.dark, n)
		} else {
			c.empty(n)
		}
	}
	c.left += len(c.dark)
	c.light()
}

// light switches on of the nodes that are still to come on those that may.
func (c *schedule) light() {
	c.dark = slices.DeleteFunc(c.dark, func(n int) bool {
		for i, l := range c.limits {
			if l.always && c.lit[i] >= l.most && slices.Contains(l.nodes, n) {
				return false
			}
		}
		c.left--
		c.lights(n, 1)
		c.push(task{vm: repack.Nowhere, kind: repack.NodeOn, from: repack.Nowhere, to: n, takes: c.in.NodeOn, unit: -1, then: -1})
		return true
	})
}

// lights has one node more or less on that a limit may count.
func (c *schedule) lights(n, by int) {
	for i, l := range c.limits {
		if slices.Contains(l.nodes, n) {
			c.lit[i] += by
		}
	}
}

// push starts a task that needs no room, now.
func (c *schedule) push(t task) {
	t.start, t.end, t.started = c.clock, c.clock+t.takes, true
	c.number(&t)
	c.list = append(c.list, t)
	heap.Push(&c.ends, len(c.list)-1)
}

// empty switches a node off that shall be and has nothing left on it.
func (c *schedule) empty(n int) {
	node := &c.in.Nodes[n]
	if node.State == repack.Online && c.power.off[n] && c.stays[n] == 0 && c.image[n] == 0 && c.offAt[n] == repack.Forever {
		c.offAt[n], c.on[n] = c.clock, false
		c.push(task{vm: repack.Nowhere, kind: repack.NodeOff, from: repack.Nowhere, to: n, takes: c.in.NodeOff, unit: -1, then: -1})
	}
}

// switched ends what was done to a node.
func (c *schedule) switched(t *task) {
	c.last = max(c.last, t.end)
	if t.kind == repack.NodeOn {
		c.on[t.to] = true
		c.stirUp(t.to)
		return
	}
	c.lights(t.to, -1)
	c.light()
}
