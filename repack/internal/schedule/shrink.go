package schedule

import "slices"

// VMs that stay and shrink give back the rest in the first instant. A VM that takes a bypass
// nevertheless must not have done so: it gets its next demand when it comes to a node, and its
// first demand counts until it has left its host.

// shrink gives back what VMs that stay need no more, unless they grow in some dimension.
func (o *occupancy) shrink(stays func(vm int) bool) {
	less := false
	for vm := range o.problem.In.VMs {
		v := &o.problem.In.VMs[vm]
		if !v.Keeps() || !stays(vm) || v.Grows() {
			continue
		}
		o.hasNext[vm], o.shrunk[vm] = true, !v.Steady()
		less = less || o.shrunk[vm]
		o.restore(o.free, vm, -1)
	}
	if less {
		o.lowestFree = slices.Clone(o.free)
	}
}

// restore changes the room of a node by what a VM has given back.
func (o *occupancy) restore(free []int64, vm int, sign int64) {
	m := o.problem
	n := m.In.VMs[vm].Host * m.Dims
	for d := range m.Dims {
		free[n+d] -= sign * (m.Now[vm*m.Dims+d] - m.Next[vm*m.Dims+d])
	}
}

// noteLowest records the least free room of a node.
func (o *occupancy) noteLowest(node int) {
	dims := o.problem.Dims
	for i := node * dims; o.lowestFree != nil && i < (node+1)*dims; i++ {
		o.lowestFree[i] = min(o.lowestFree[i], o.free[i])
	}
}

// unusedSince reports whether the room that VMs have given back is still free.
func (o *occupancy) unusedSince(vms ...int) bool {
	ok := true
	for _, vm := range vms {
		if o.shrunk[vm] {
			o.restore(o.lowestFree, vm, 1)
		}
	}
	for _, vm := range vms {
		if o.shrunk[vm] {
			n := o.problem.In.VMs[vm].Host * o.problem.Dims
			ok = ok && slices.Min(o.lowestFree[n:n+o.problem.Dims]) >= 0
		}
	}
	for _, vm := range vms {
		if o.shrunk[vm] {
			o.restore(o.lowestFree, vm, -1)
		}
	}
	return ok
}

// takeBack returns to a VM that takes a bypass what it had.
func (o *occupancy) takeBack(vm int) {
	if o.shrunk[vm] {
		o.restore(o.free, vm, 1)
		o.restore(o.lowestFree, vm, 1)
		o.hasNext[vm], o.shrunk[vm] = false, false
	}
}
