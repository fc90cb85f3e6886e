package solve

// The room that a schedule has on each node as time goes on.

// hasRoom reports whether a VM could come to a node now.
func (c *Schedule) hasRoom(vm, node int) bool {
	v, n := vm*c.dims, node*c.dims
	for d := range c.dims {
		if need := c.next[v+d]; need > 0 && need > c.free[n+d] {
			return false
		}
	}
	return true
}

// haveRoom reports whether all of the tasks could come now. Nothing changes.
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
	for d := range c.dims {
		c.free[node*c.dims+d] += sign * c.next[vm*c.dims+d]
	}
}

// release changes the free room of a node by what a VM on it occupies.
func (c *Schedule) release(vm, n int, sign int64) {
	demand := c.now
	if c.hasNext[vm] {
		demand = c.next
	}
	for d := range c.dims {
		c.free[n*c.dims+d] += sign * demand[vm*c.dims+d]
	}
}
