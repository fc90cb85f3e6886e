package schedule

import "slices"

// VMs that stay and shrink give back the rest in the first instant. A VM that takes a bypass
// nevertheless must not have done so: it gets its next demand when it comes to a node, and its
// first demand counts until it has left its host.

// shrink gives back what VMs that stay need no more, unless they grow in some dimension.
func (c *Schedule) shrink() {
	less := false
	for vm := range c.In.VMs {
		v := &c.In.VMs[vm]
		if !v.Keeps() || c.taskOf[vm] >= 0 || v.Grows() {
			continue
		}
		c.hasNext[vm] = true
		less = less || !v.Steady()
		c.restore(c.free, vm, -1)
	}
	if less {
		c.lowestFree = slices.Clone(c.free)
	}
}

// restore changes the room of a node by what a VM has given back.
func (c *Schedule) restore(free []int64, vm int, sign int64) {
	n := c.In.VMs[vm].Host * c.Dims
	for d := range c.Dims {
		free[n+d] -= sign * (c.Now[vm*c.Dims+d] - c.Next[vm*c.Dims+d])
	}
}

// noteLowest records the least free room of a node.
func (c *Schedule) noteLowest(node int) {
	for i := node * c.Dims; c.lowestFree != nil && i < (node+1)*c.Dims; i++ {
		c.lowestFree[i] = min(c.lowestFree[i], c.free[i])
	}
}

// hasShrunk reports whether a VM has given something back where it stays.
func (c *Schedule) hasShrunk(vm int) bool {
	return c.hasNext[vm] && c.taskOf[vm] < 0 && c.In.VMs[vm].Keeps() && !c.In.VMs[vm].Steady()
}

// unusedSince reports whether the room that VMs have given back is still free.
func (c *Schedule) unusedSince(vms ...int) bool {
	ok := true
	for _, vm := range vms {
		if c.hasShrunk(vm) {
			c.restore(c.lowestFree, vm, 1)
		}
	}
	for _, vm := range vms {
		if c.hasShrunk(vm) {
			n := c.In.VMs[vm].Host * c.Dims
			ok = ok && slices.Min(c.lowestFree[n:n+c.Dims]) >= 0
		}
	}
	for _, vm := range vms {
		if c.hasShrunk(vm) {
			c.restore(c.lowestFree, vm, -1)
		}
	}
	return ok
}

// takeBack returns to a VM that takes a bypass what it had.
func (c *Schedule) takeBack(vm int) {
	if c.hasShrunk(vm) {
		c.restore(c.free, vm, 1)
		c.restore(c.lowestFree, vm, 1)
		c.hasNext[vm] = false
	}
}
