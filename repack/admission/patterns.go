package admission

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/problem"
	"vjob/repack/internal/proof"
)

// patterns returns patterns of what nodes hold for the VMs taken and those of the items, see package pattern; nil if that costs
// more effort than is left, or if the VMs are of too many sizes.
func (t rearranger) patterns(items []item) *proof.Patterns {
	cost := patternEffort + t.placedVMs/vmsPerEffort
	if t.effort < cost {
		return nil
	}
	t.effort -= cost
	vms := make([]int, 0, t.placedVMs+len(items))
	for _, list := range [][]item{t.placedItems, items} {
		for _, it := range list {
			vms = append(vms, it.vms...)
		}
	}
	return proof.PatternsOf(t.Problem, vms, stays)
}

// What patterns cost of the effort: some, and more for so many VMs.
const (
	patternEffort = 64
	vmsPerEffort  = 8
)

// stays reports whether a VM runs and is never touched.
func stays(m *problem.Problem, vm int) bool {
	v := &m.In.VMs[vm]
	return v.Stays && v.State == repack.Running
}

// packByPatterns gives all VMs the places of patterns, if rules allow that.
func (t rearranger) packByPatterns(p *proof.Patterns, items []item) bool {
	list := slices.Concat(t.placedItems, items)
	held := p.Fill()
	if held == nil || slices.ContainsFunc(list, func(it item) bool { return len(it.vms) > 1 }) {
		return false
	}
	left := make([][]int64, len(t.In.Nodes)) // places by node and kind
	for _, h := range held {
		left[h.Node] = slices.Clone(h.VMs)
	}
	moves := list[:0:0]
	for _, it := range list {
		kind, n := p.KindOf[it.vms[0]], t.NodeOf[it.vms[0]]
		switch {
		case kind < 0 && n != repack.Nowhere:
		case kind >= 0 && n != repack.Nowhere && left[n] != nil && left[n][kind] > 0:
			left[n][kind]--
		default:
			t.put(it, repack.Nowhere)
			moves = append(moves, it)
		}
	}
	return !slices.ContainsFunc(moves, func(it item) bool { return !t.seatAmong(it, left, p.KindOf[it.vms[0]]) })
}

// seatAmong gives an item of one VM the best of the places that are left for its kind.
func (t rearranger) seatAmong(it item, left [][]int64, kind int) bool {
	if kind < 0 {
		return t.seat(it, 0)
	}
	best := candidate{node: repack.Nowhere}
	for _, n := range t.OpenNodes {
		if left[n] != nil && left[n][kind] > 0 && t.Holds(it.need, n) {
			best = t.better(best, it, n)
		}
	}
	if best.node == repack.Nowhere {
		return false
	}
	left[best.node][kind]--
	t.put(it, best.node)
	return true
}
