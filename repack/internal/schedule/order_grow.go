package schedule

import (
	"cmp"
	"slices"

	"vjob/repack"
)

// grow gives the VMs that stay their share, the smallest first, after all arrivals and as few
// departures as necessary. Free is the room of the node after all arrivals and the first
// departures. VMs that also shrink in some dimension may have to do so before others grow, and
// finally the rest grows at once.
func (o *precedence) grow(n int, free []int64, gone int) {
	vms, goes := o.stays.At(n), o.goes.At(n)
	slices.SortStableFunc(vms, func(a, b int) int { return cmp.Compare(o.growth(a), o.growth(b)) })
	var before []int // growths that free something
	for len(vms) > 0 {
		var later []int
		for _, vm := range vms {
			o.swap(free, vm, 1)
			gated := len(o.GatesOf[vm]) > 0
			for (gated || !positive(free, o.Next, vm, o.Dims)) && gone < len(goes) {
				o.release(free, o.plan.Actions[goes[gone]].VM, n, goes[gone])
				gone++
			}
			if !positive(free, o.Next, vm, o.Dims) {
				o.swap(free, vm, -1)
				later = append(later, vm)
				continue
			}
			i := o.allocate(vm, goes[:gone], before, gated)
			if shrinks(&o.In.VMs[vm]) {
				before = append(before, i)
			}
		}
		if len(later) == len(vms) {
			gated := slices.ContainsFunc(vms, func(vm int) bool { return len(o.GatesOf[vm]) > 0 })
			for _, vm := range vms {
				o.allocate(vm, goes, before, gated)
			}
			return
		}
		vms = later
	}
}

// swap gives a VM its next demand where it stays.
func (o *precedence) swap(free []int64, vm int, sign int64) {
	o.add(free, vm, o.Now, sign)
	o.add(free, vm, o.Next, -sign)
}

// allocate lets a VM grow after some departures and growths.
func (o *precedence) allocate(vm int, goes, before []int, gated bool) int {
	a := repack.Action{Kind: repack.Allocate, VM: vm, From: repack.Nowhere, To: o.In.VMs[vm].Host, After: slices.Clone(before)}
	o.wait(&a, goes)
	if gated { // a gate may allow it only in the end
		for _, goes := range o.goes.All() {
			o.wait(&a, goes)
		}
	}
	for _, i := range a.After {
		a.Start = max(a.Start, o.plan.Actions[i].End)
	}
	a.End = a.Start
	o.plan.Actions = append(o.plan.Actions, a)
	return len(o.plan.Actions) - 1
}

// growth returns how much more a VM asks for, to compare.
func (o *precedence) growth(vm int) (sum int64) {
	for d := range o.Dims {
		sum += max(0, o.Next[vm*o.Dims+d]-o.Now[vm*o.Dims+d])
	}
	return sum
}
