package schedule

import "slices"

// VMs that stay and need less give that back in the first instant. One that is to go
// nevertheless, by a detour, has to have kept it: it gets its next demand when it
// comes to a node, and its first one counts until it has left its host.

// shrink gives back what VMs that stay need no more: those that grow in nothing.
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

// restore takes what a VM has given back from the room of its node.
func (c *Schedule) restore(free []int64, vm int, sign int64) {
	n := c.In.VMs[vm].Host * c.Dims
	for d := range c.Dims {
		free[n+d] -= sign * (c.Now[vm*c.Dims+d] - c.Next[vm*c.Dims+d])
	}
}

// noteLowest notes that there is less room on a node.
func (c *Schedule) noteLowest(node int) {
	for i := node * c.Dims; c.lowestFree != nil && i < (node+1)*c.Dims; i++ {
		c.lowestFree[i] = min(c.lowestFree[i], c.free[i])
	}
}

// hasShrunk reports whether a VM has given something back where it stays.
func (c *Schedule) hasShrunk(vm int) bool {
	return c.hasNext[vm] && c.taskOf[vm] < 0 && c.In.VMs[vm].Keeps() && !c.In.VMs[vm].Steady()
}

// unusedSince reports whether nobody has used what VMs have given back.
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

// takeBack has a VM that takes a detour keep what it had.
func (c *Schedule) takeBack(vm int) {
	if c.hasShrunk(vm) {
		c.restore(c.free, vm, 1)
		c.restore(c.lowestFree, vm, 1)
		c.hasNext[vm] = false
	}
}
