package schedule

import (
	"container/heap"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
)

// switching is which nodes are on. Nodes go off once they are empty, and come on first, or as soon
// as the limits of nodes that are on allow it.
type switching struct {
	power       placement.NodePower
	on          []bool         // nodes that accept VMs now
	offAt       []repack.Ticks // when each node goes off
	images      []int          // images on each node that are still to be resumed
	onlineCount []int          // nodes of each limit that are on, coming on or going off
	toSwitchOn  []int          // nodes that are still to come on
}

// powerUp switches nodes on, and those off that are empty already.
func (c *simulation) powerUp() {
	c.onlineCount = make([]int, len(c.Limits))
	for i, l := range c.Limits {
		for _, n := range l.Nodes {
			if c.In.Nodes[n].State == repack.Online {
				c.onlineCount[i]++
			}
		}
	}
	for n := range c.In.Nodes {
		if c.In.Nodes[n].State == repack.Offline && c.power.On[n] {
			c.toSwitchOn = append(c.toSwitchOn, n)
		} else {
			c.switchOffIfEmpty(n)
		}
	}
	c.pending += len(c.toSwitchOn)
	c.switchOnAllowed()
}

// switchOnAllowed switches on the nodes that limits allow.
func (c *simulation) switchOnAllowed() {
	c.toSwitchOn = slices.DeleteFunc(c.toSwitchOn, func(n int) bool {
		for i, l := range c.Limits {
			if l.Always && c.onlineCount[i] >= l.Most && slices.Contains(l.Nodes, n) {
				return false
			}
		}
		c.pending--
		c.countOnline(n, 1)
		c.startNow(task{vm: repack.Nowhere, kind: repack.NodeOn, from: repack.Nowhere, to: n, takes: c.In.NodeOn, unit: -1, then: -1})
		return true
	})
}

// countOnline changes the number of nodes that are on, for each limit.
func (c *simulation) countOnline(n, by int) {
	for i, l := range c.Limits {
		if slices.Contains(l.Nodes, n) {
			c.onlineCount[i] += by
		}
	}
}

// startNow starts a task that needs no room.
func (c *simulation) startNow(t task) {
	t.start, t.end, t.started = c.clock, c.clock+t.takes, true
	c.number(&t)
	c.tasks = append(c.tasks, t)
	heap.Push(&c.ends, len(c.tasks)-1)
}

// switchOffIfEmpty switches a node off that shall go off and is empty.
func (c *simulation) switchOffIfEmpty(n int) {
	node := &c.In.Nodes[n]
	if node.State == repack.Online && c.power.Off[n] && c.vmCount[n] == 0 && c.images[n] == 0 && c.offAt[n] == repack.Forever {
		c.offAt[n], c.on[n] = c.clock, false
		c.startNow(task{vm: repack.Nowhere, kind: repack.NodeOff, from: repack.Nowhere, to: n, takes: c.In.NodeOff, unit: -1, then: -1})
	}
}

// nodeSwitched ends the switching of a node.
func (c *simulation) nodeSwitched(t *task) {
	c.Last = max(c.Last, t.end)
	if t.kind == repack.NodeOn {
		c.on[t.to] = true
		c.markDirty(t.to)
		return
	}
	c.countOnline(t.to, -1)
	c.switchOnAllowed()
}
