package admission

import (
	"vjob/repack"
	"vjob/repack/internal/placement"
)

// Grow goes on with the trial on an instance that has more VMs, and their rules: number
// is what the VMs of the trial are called there, in the same order. Who was taken is
// where he was. Use the trial no more.
//
// The error is an instance that is not one, or contradicts itself.
func (test *Test) Grow(in *repack.Instance, number []int) (*Test, error) {
	t := test.search
	grown, err := New(in, t.options)
	if err != nil {
		return nil, err
	}
	g := grown.search
	for n, vms := range t.VMsOn {
		for _, vm := range vms {
			g.Move(number[vm], n) // in this order, so that what comes next is as it would have been
		}
	}
	g.placedVMs, g.placedItems, g.groupsTried, g.effort = t.placedVMs, t.placedItems, t.groupsTried, t.effort
	for _, it := range g.placedItems {
		for i, vm := range it.vms {
			it.vms[i] = number[vm]
		}
	}
	for _, v := range t.noFit {
		v.vm = number[v.vm]
		v.set, v.circle, v.weight = g.Banned[v.vm], g.exclusionClass[v.vm], g.weightOf(v.vm)
		g.noFit = append(g.noFit, v)
	}
	return grown, nil
}

// Load is what those who have places on a node use of it, by dimension. It is not to
// be changed.
func (test *Test) Load(node int) []int64 {
	t := test.search
	return t.EndLoad[node*t.Dims : (node+1)*t.Dims]
}

// NoFit reports whether it is known that there are not enough places for VMs with
// these needs, which the instance does not have, and why. No rule must name them but
// those that name one VM of the instance, as which they count; none may weigh less than it.
func (test *Test) NoFit(needs [][]int64, as int) (why Refusal, known bool) {
	t := test.search
	for i := range t.noFit {
		v := &t.noFit[i]
		if t.Banned[as] != v.set || t.exclusionClass[as] != v.circle || !placement.Within(v.weight, t.weightOf(as)) || t.NodeOf[v.vm] != repack.Nowhere {
			continue
		}
		var asking [][]int64
		for _, need := range needs {
			if placement.Within(v.need, need) {
				asking = append(asking, need)
			}
		}
		if len(asking) > v.slots && (t.effort <= 0 || len(asking) >= v.tried) {
			t.Record()
			defer func() { t.Recording = false }()
			return t.reason(item{vms: []int{v.vm}, need: asking[v.slots]}), true
		}
	}
	return Refusal{}, false
}
