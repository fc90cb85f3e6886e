package schedule

// The free room of each node over time.

// hasRoom reports whether a VM could come to a node now.
func (c *Schedule) hasRoom(vm, node int) bool {
	v, n := vm*c.Dims, node*c.Dims
	for d := range c.Dims {
		if need := c.Next[v+d]; need > 0 && need > c.free[n+d] {
			return false
		}
	}
	return true
}

// haveRoom reports whether all tasks could come now. Nothing changes.
func (c *Schedule) haveRoom(tasks []int) bool {
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

// occupy changes the free room of a node by the next demand of a VM.
func (c *Schedule) occupy(vm, node int, sign int64) {
	for d := range c.Dims {
		c.free[node*c.Dims+d] += sign * c.Next[vm*c.Dims+d]
	}
}

// release changes the free room of a node by what a VM on it occupies.
func (c *Schedule) release(vm, n int, sign int64) {
	demand := c.Now
	if c.hasNext[vm] {
		demand = c.Next
	}
	for d := range c.Dims {
		c.free[n*c.Dims+d] += sign * demand[vm*c.Dims+d]
	}
}
