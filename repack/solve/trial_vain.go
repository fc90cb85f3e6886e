package solve

import (
	"cmp"
	"slices"

	"vjob/repack"
)

// vain is how many places there are for VMs that need at least what one needs, and to
// which the same nodes are open: for more of them none need be looked for. It holds
// until somebody is taken.
type vain struct {
	vm     int // one of them
	need   []int64
	set    *nodeSet // nodes that are not open to them
	circle int      // that they are in
	weight []int64  // that they have at least
	slots  int      // for so many there is room
	nodes  int      // on so many nodes is room for one
	tried  int      // for so many room was sought by moving others
}

// mostVain is how many of them are remembered.
const mostVain = 16

// despair remembers what VMs that were refused looked for: the one that failed, and
// the least bulky.
func (t *Trial) despair(vms []int, failed int) {
	t.recall(vms, failed)
	t.recall(vms, slices.MinFunc(vms, func(a, b int) int {
		return cmp.Or(cmp.Compare(t.bulk(a), t.bulk(b)), cmp.Compare(a, b))
	}))
}

// recall remembers what one of the VMs looked for.
func (t *Trial) recall(vms []int, vm int) {
	v := vain{vm: vm, need: t.need(vm), set: t.final[vm], circle: t.circle[vm], weight: t.weighs(vm), tried: len(t.in.VMs)}
	at := slices.IndexFunc(t.vain, func(old vain) bool {
		return old.set == v.set && old.circle == v.circle && slices.Equal(old.need, v.need) && slices.Equal(old.weight, v.weight)
	})
	if at < 0 {
		if len(t.vain) == mostVain {
			return
		}
		at = len(t.vain)
		t.count(&v, vm)
		t.vain = append(t.vain, v)
	}
	t.vain[at].tried = min(t.vain[at].tried, len(t.asking(vms, &v)))
}

// count counts the places for VMs like one, but for the rules of its own.
func (t *Trial) count(v *vain, vm int) {
	t.openings.each(v.need, 0, func(n int) bool {
		if !t.allows(vm, n) || !t.mixes(vm, n) || t.full(vm, n) {
			return true
		}
		most := int64(len(t.in.VMs))
		for d, x := range v.need {
			if x > 0 {
				most = min(most, (t.room[n*t.dims+d]-t.load[n*t.dims+d])/x)
			}
		}
		v.slots += int(most)
		v.nodes++
		return true
	})
}

// full reports whether a rule on a node keeps a VM from coming to it.
func (t *Trial) full(vm, n int) bool {
	return slices.ContainsFunc(t.ofNode[n], func(number int) bool {
		g := &t.guards[number]
		return g.penalty == 0 && g.Delta(vm, repack.Nowhere, n) > 0
	})
}

// asking are those of the VMs that can only have such places.
func (t *Trial) asking(vms []int, v *vain) (list []int) {
	for _, vm := range vms {
		if t.final[vm] == v.set && t.circle[vm] == v.circle && within(v.need, t.need(vm)) && within(v.weight, t.weighs(vm)) && !t.mayRemain(vm) {
			list = append(list, vm)
		}
	}
	return list
}

// inVain reports whether it is known that there are not enough places for VMs.
func (t *Trial) inVain(vms []int) (why Refusal, known bool) {
	for i := range t.vain {
		v := &t.vain[i]
		list := t.asking(vms, v)
		if len(list) == 0 || t.effort > 0 && len(list) < v.tried {
			continue
		}
		if len(list) > v.slots {
			return t.lost(list[v.slots]), true
		}
		for _, number := range t.ofVM[list[0]] {
			g := &t.guards[number]
			if _, ok := g.rule.(apart); ok && g.penalty == 0 {
				if members := t.members(list, number); len(members) > v.nodes {
					return Refusal{VM: members[v.nodes], Rule: g.rule, in: t.in}, true
				}
			}
		}
	}
	return Refusal{}, false
}

// lost is the refusal of a VM for which there is no place even alone, or none left
// beside others of its gang.
func (t *Trial) lost(vm int) Refusal {
	return t.reason(item{vms: []int{vm}, need: t.need(vm)})
}

// mayRemain reports whether a VM runs on a node to which nobody comes any more.
func (t *Trial) mayRemain(vm int) bool {
	return t.in.VMs[vm].State == repack.Running && !t.openings.takes[t.home[vm]]
}
