package admission

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
)

// Grow continues the test on an instance with more VMs and rules: number has the new number of
// each VM of the test. All places stay. The old test must not be used any more.
//
// The error is an instance that is not valid, or contradicts itself.
func (test *Test) Grow(in *repack.Instance, number []int) (*Test, error) {
	t := test.search
	grown, err := New(in, t.options)
	if err != nil {
		return nil, err
	}
	g := grown.search
	for n, vms := range t.VMsOn.All() {
		for _, vm := range vms {
			g.Move(number[vm], n) // in this order, so that later results are the same
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
		v.set, v.class, v.weight = g.Banned[v.vm], g.exclusionClass[v.vm], g.weightOf(v.vm)
		g.noFit = append(g.noFit, v)
	}
	return grown, nil
}

// Drop takes VMs out that were taken. Others that were moved for them stay where they are.
func (test *Test) Drop(vms []int) {
	t := test.search
	dropped := map[int]bool{}
	for _, vm := range vms {
		if t.NodeOf[vm] != repack.Nowhere {
			dropped[vm] = true
			t.Move(vm, repack.Nowhere)
		}
	}
	t.placedItems = slices.DeleteFunc(t.placedItems, func(it item) bool { return dropped[it.vms[0]] })
	t.placedVMs -= len(dropped)
	t.noFit = t.noFit[:0]
}

// Load returns the load of a node, by dimension. The caller must not change it.
func (test *Test) Load(node int) []int64 {
	t := test.search
	return t.EndLoad[node*t.Dims : (node+1)*t.Dims]
}

// NoFit reports whether it is known that places are missing for VMs with these needs, which
// are not in the instance, and why. No rule may name them, except that they count as one VM of
// the instance, which must weigh no more than they do.
func (test *Test) NoFit(needs [][]int64, as int) (why Refusal, known bool) {
	t := test.search
	for i := range t.noFit {
		v := &t.noFit[i]
		if t.Banned[as] != v.set || t.exclusionClass[as] != v.class || !placement.Within(v.weight, t.weightOf(as)) || t.NodeOf[v.vm] != repack.Nowhere {
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
