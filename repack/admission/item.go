package admission

import (
	"cmp"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
)

// item is placed as one: a VM, or VMs that a rule holds on one node.
type item struct {
	vms  []int
	need []int64
	rule repack.Rule // holds them together
}

// itemBuilder makes items of VMs.
type itemBuilder struct{ *placement.State }

// need returns the demand of a VM.
func (t itemBuilder) need(vm int) []int64 { return t.Next[vm*t.Dims : (vm+1)*t.Dims] }

// items returns VMs in the order in which they look for places: first those that run, then the
// largest.
func (t itemBuilder) items(vms []int) (list []item) {
	vms, list = slices.Clone(vms), make([]item, 0, len(vms))
	slices.SortFunc(vms, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(t.arrives(a), t.arrives(b)),
			cmp.Compare(t.Bulk[b], t.Bulk[a]),
			cmp.Compare(a, b),
		)
	})
	for i, vm := range vms {
		list = append(list, item{vms: vms[i : i+1 : i+1], need: t.need(vm)})
	}
	for _, number := range t.ties(vms) {
		list = t.join(list, number)
	}
	return list
}

// arrives is 0 for a VM that runs, and 1 for one that does not.
func (t itemBuilder) arrives(vm int) int {
	if t.In.VMs[vm].State == repack.Running {
		return 0
	}
	return 1
}

// ties returns the hard rules that hold some of the VMs on one node.
func (t itemBuilder) ties(vms []int) (numbers []int) {
	var seen []int
	for _, vm := range vms {
		for _, number := range t.GuardsOfVM[vm] {
			if slices.Contains(seen, number) {
				continue
			}
			seen = append(seen, number)
			if !t.groups(number) {
				continue
			}
			members := t.members(vms, number)
			if len(members) > 1 && t.holdsTogether(&t.Guards[number], members[0], members[1]) {
				numbers = append(numbers, number)
			}
		}
	}
	return numbers
}

// groups reports whether a guard belongs to a hard rule that does more than keep VMs apart.
func (t itemBuilder) groups(number int) bool {
	_, spreads := t.Guards[number].Rule.(problem.Apart)
	return !spreads && t.Guards[number].Penalty == 0
}

// members returns the VMs that a guard concerns.
func (t itemBuilder) members(vms []int, number int) (list []int) {
	for _, vm := range vms {
		if slices.Contains(t.GuardsOfVM[vm], number) {
			list = append(list, vm)
		}
	}
	return list
}

// holdsTogether reports whether a guard holds two unplaced VMs on one node: wherever the first
// goes, the second breaks the rule on every other node. It asks the guard instead of the rule,
// so that any rule may be of that kind.
func (t itemBuilder) holdsTogether(g *problem.PostedGuard, a, b int) bool {
	at := slices.IndexFunc(t.OpenNodes, func(n int) bool { return t.Allows(a, n) && g.Delta(a, repack.Nowhere, n) <= 0 })
	if at < 0 {
		return false
	}
	at = t.OpenNodes[at]
	g.Move(a, repack.Nowhere, at)
	defer g.Move(a, at, repack.Nowhere)
	if g.Delta(b, repack.Nowhere, at) > 0 {
		return false
	}
	return !slices.ContainsFunc(t.OpenNodes, func(n int) bool { return n != at && g.Delta(b, repack.Nowhere, n) <= 0 })
}

// join makes one item of the items that a rule holds together. It comes first, as it fits in
// fewer places.
func (t itemBuilder) join(list []item, number int) []item {
	one := item{need: make([]int64, t.Dims), rule: t.Guards[number].Rule}
	rest := list[:0]
	for _, it := range list {
		if len(t.members(it.vms, number)) == 0 {
			rest = append(rest, it)
			continue
		}
		one.vms = append(one.vms, it.vms...)
		for d := range one.need {
			one.need[d] += it.need[d]
		}
	}
	return slices.Insert(rest, 0, one)
}
