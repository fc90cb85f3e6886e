package admission

import (
	"vjob/repack/internal/problem"
)

// weighing is a rule for which VMs count by more than their needs: where one finds no place, a
// lighter one may.
type weighing interface{ Weight(vm int) int64 }

// weights returns the weights of VMs under such rules, by VM; nil without such rules.
func weights(m *problem.Problem) [][]int64 {
	var rules []weighing
	for _, r := range m.In.Rules {
		if w, ok := r.Rule.(weighing); ok && r.Penalty == 0 {
			rules = append(rules, w)
		}
	}
	if len(rules) == 0 {
		return nil
	}
	list := make([][]int64, len(m.In.VMs))
	for vm := range list {
		list[vm] = make([]int64, len(rules))
		for i, r := range rules {
			list[vm][i] = r.Weight(vm)
		}
	}
	return list
}

// weightOf returns the weights of a VM.
func (t *search) weightOf(vm int) []int64 {
	if t.weight == nil {
		return nil
	}
	return t.weight[vm]
}

// straining is a guard of such a rule that knows which part of what is left a VM would take on
// a node.
type straining interface{ Strain(vm, node int) float64 }

// strain returns the largest part that an item would take of what a rule has left on a node.
func (t *search) strain(it item, n int) (most float64) {
	for _, number := range t.GuardsOfNode.At(n) {
		if g, ok := t.Guards[number].Guard.(straining); ok {
			sum := 0.0
			for _, vm := range it.vms {
				sum += g.Strain(vm, n)
			}
			most = max(most, sum)
		}
	}
	return most
}

// seatLeastStrain looks for places with the least strain.
func (t *search) seatLeastStrain(items []item) bool {
	return t.withLeastStrain(func() bool { return t.spendEffort(len(items)) && t.seatAll(items, 0) < 0 })
}

// withLeastStrain calls look with that order, if there are such rules.
func (t *search) withLeastStrain(look func() bool) bool {
	if t.weight == nil {
		return false
	}
	t.leastStrain = true
	defer func() { t.leastStrain = false }()
	return look()
}
