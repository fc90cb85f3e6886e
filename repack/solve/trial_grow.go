package solve

import "vjob/repack"

// Grow goes on with the trial on an instance that has more VMs, and their rules: number
// is what the VMs of the trial are called there, in the same order. Who was taken is
// where he was. Use the trial no more.
//
// The error is an instance that is not one, or contradicts itself.
func (t *Trial) Grow(in *repack.Instance, number []int) (*Trial, error) {
	g, err := NewTrial(in, t.options)
	if err != nil {
		return nil, err
	}
	for n, vms := range t.here {
		for _, vm := range vms {
			g.move(number[vm], n) // in this order, so that what comes next is as it would have been
		}
	}
	g.hosted, g.taken, g.roamed, g.effort = t.hosted, t.taken, t.roamed, t.effort
	for _, it := range g.taken {
		for i, vm := range it.vms {
			it.vms[i] = number[vm]
		}
	}
	for _, v := range t.vain {
		v.vm = number[v.vm]
		v.set, v.circle, v.weight = g.final[v.vm], g.circle[v.vm], g.weighs(v.vm)
		g.vain = append(g.vain, v)
	}
	return g, nil
}

// Load is what those who have places on a node use of it, by dimension. It is not to
// be changed.
func (t *Trial) Load(node int) []int64 { return t.load[node*t.dims : (node+1)*t.dims] }

// InVain reports whether it is known that there are not enough places for VMs with
// these needs, which the instance does not have, and why. No rule must name them but
// those that name one VM of the instance, as which they count; none may weigh less than it.
func (t *Trial) InVain(needs [][]int64, as int) (why Refusal, known bool) {
	for i := range t.vain {
		v := &t.vain[i]
		if t.final[as] != v.set || t.circle[as] != v.circle || !within(v.weight, t.weighs(as)) || t.at[v.vm] != repack.Nowhere {
			continue
		}
		var asking [][]int64
		for _, need := range needs {
			if within(v.need, need) {
				asking = append(asking, need)
			}
		}
		if len(asking) > v.slots && (t.effort <= 0 || len(asking) >= v.tried) {
			t.note()
			defer func() { t.noted = false }()
			return t.reason(item{vms: []int{v.vm}, need: asking[v.slots]}), true
		}
	}
	return Refusal{}, false
}
