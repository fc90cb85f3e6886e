package solve

import "vjob/repack"

// Grow goes on with the trial on an instance that has more VMs, and their rules: number
// is what the VMs of the trial are called there, in the same order. Who was taken is
// where he was. Use the trial no more.
//
// The error is an instance that is not one, or contradicts itself.
func (t *Test) Grow(in *repack.Instance, number []int) (*Test, error) {
	g, err := NewTest(in, t.options)
	if err != nil {
		return nil, err
	}
	for n, vms := range t.vmsOn {
		for _, vm := range vms {
			g.move(number[vm], n) // in this order, so that what comes next is as it would have been
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
		v.set, v.circle, v.weight = g.banned[v.vm], g.exclusionClass[v.vm], g.weightOf(v.vm)
		g.noFit = append(g.noFit, v)
	}
	return g, nil
}

// Load is what those who have places on a node use of it, by dimension. It is not to
// be changed.
func (t *Test) Load(node int) []int64 { return t.endLoad[node*t.dims : (node+1)*t.dims] }

// KnownNoFit reports whether it is known that there are not enough places for VMs with
// these needs, which the instance does not have, and why. No rule must name them but
// those that name one VM of the instance, as which they count; none may weigh less than it.
func (t *Test) KnownNoFit(needs [][]int64, as int) (why Refusal, known bool) {
	for i := range t.noFit {
		v := &t.noFit[i]
		if t.banned[as] != v.set || t.exclusionClass[as] != v.circle || !within(v.weight, t.weightOf(as)) || t.nodeOf[v.vm] != repack.Nowhere {
			continue
		}
		var asking [][]int64
		for _, need := range needs {
			if within(v.need, need) {
				asking = append(asking, need)
			}
		}
		if len(asking) > v.slots && (t.effort <= 0 || len(asking) >= v.tried) {
			t.record()
			defer func() { t.recording = false }()
			return t.reason(item{vms: []int{v.vm}, need: asking[v.slots]}), true
		}
	}
	return Refusal{}, false
}
