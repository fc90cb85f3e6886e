package admission

import (
	"cmp"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
)

// noFit records how many places there are for VMs that need at least as much as one VM, and
// are allowed on the same nodes: a search for more of them fails. It holds until VMs are
// taken.
type noFit struct {
	vm     int // one of them
	need   []int64
	set    *problem.NodeSet // banned nodes
	class  int              // their exclusion class
	weight []int64          // the least they have
	slots  int              // places for so many
	nodes  int              // nodes with room for one
	tried  int              // so many were searched for by moving others
}

// maxNoFit bounds the records.
const maxNoFit = 16

// rememberRefusal records what refused VMs looked for: the one that failed, and the smallest.
func (t *search) rememberRefusal(vms []int, failed int) {
	t.remember(vms, failed)
	t.remember(vms, slices.MinFunc(vms, func(a, b int) int {
		return cmp.Or(cmp.Compare(t.Bulk[a], t.Bulk[b]), cmp.Compare(a, b))
	}))
}

// remember records what one of the VMs looked for.
func (t *search) remember(vms []int, vm int) {
	v := noFit{vm: vm, need: t.need(vm), set: t.Banned[vm], class: t.exclusionClass[vm], weight: t.weightOf(vm), tried: len(t.In.VMs)}
	at := slices.IndexFunc(t.noFit, func(old noFit) bool {
		return old.set == v.set && old.class == v.class && slices.Equal(old.need, v.need) && slices.Equal(old.weight, v.weight)
	})
	if at < 0 {
		if len(t.noFit) == maxNoFit {
			return
		}
		at = len(t.noFit)
		t.count(&v, vm)
		t.noFit = append(t.noFit, v)
	}
	t.noFit[at].tried = min(t.noFit[at].tried, len(t.applicable(vms, &v)))
}

// count counts the places for VMs like one, its own rules aside.
func (t *search) count(v *noFit, vm int) {
	t.Free.Each(v.need, 0, func(n int) bool {
		if !t.Allows(vm, n) || !t.sameClass(vm, n) || t.ruleFull(vm, n) {
			return true
		}
		most := int64(len(t.In.VMs))
		for d, x := range v.need {
			if x > 0 {
				most = min(most, (t.Room[n*t.Dims+d]-t.EndLoad[n*t.Dims+d])/x)
			}
		}
		v.slots += int(most)
		v.nodes++
		return true
	})
}

// ruleFull reports whether a rule on a node keeps a VM from coming to it.
func (t *search) ruleFull(vm, n int) bool {
	return slices.ContainsFunc(t.GuardsOfNode.At(n), func(number int) bool {
		g := &t.Guards[number]
		return g.Penalty == 0 && g.Delta(vm, repack.Nowhere, n) > 0
	})
}

// applicable returns the VMs to which a record applies.
func (t *search) applicable(vms []int, v *noFit) (list []int) {
	for _, vm := range vms {
		if t.Banned[vm] == v.set && t.exclusionClass[vm] == v.class && placement.Within(v.need, t.need(vm)) && placement.Within(v.weight, t.weightOf(vm)) && !t.mayRemain(vm) {
			list = append(list, vm)
		}
	}
	return list
}

// knownNoFit reports whether it is known that places are missing for VMs.
func (t *search) knownNoFit(vms []int) (why Refusal, known bool) {
	for i := range t.noFit {
		v := &t.noFit[i]
		list := t.applicable(vms, v)
		if len(list) == 0 || t.effort > 0 && len(list) < v.tried {
			continue
		}
		if len(list) > v.slots {
			return t.noFitRefusal(list[v.slots]), true
		}
		for _, number := range t.GuardsOfVM[list[0]] {
			g := &t.Guards[number]
			if _, ok := g.Rule.(problem.Apart); ok && g.Penalty == 0 {
				if members := t.members(list, number); len(members) > v.nodes {
					return Refusal{VM: members[v.nodes], Rule: g.Rule, in: t.In}, true
				}
			}
		}
	}
	return Refusal{}, false
}

// noFitRefusal returns the refusal of a VM for which there is no place, alone or beside others
// of its gang.
func (t *search) noFitRefusal(vm int) Refusal {
	return t.reason(item{vms: []int{vm}, need: t.need(vm)})
}

// mayRemain reports whether a VM runs on a node that accepts no others.
func (t *search) mayRemain(vm int) bool {
	return t.In.VMs[vm].State == repack.Running && !t.Free.Accepts[t.Home[vm]]
}
