package solve

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/proof"
)

// usePatterns looks for a better plan if the VMs are of a few kinds: package pattern decides what each node holds, such that as few
// VMs as possible leave their homes. That raises the bound as well.
func (p *portfolio) usePatterns() {
	first := p.searches[0]
	if p.best != nil && p.best.score.first <= p.bound || first.patterns() == nil {
		return
	}
	p.raise(first.patterns().Bound())
	if !first.patterned && (p.best == nil || p.best.score.first > p.bound) && first.improveByPatterns() {
		first.schedulePlacement()
		p.takeBest(p.searches[:1])
	}
}

// improveByPatterns gives all VMs places by patterns, if that is better.
func (s *search) improveByPatterns() bool {
	before := s.Value()
	s.Record()
	if s.repairByPatterns() {
		s.replaceDelayed()
	}
	s.Recording = false
	s.RefreshDelays(s.TouchedNodes()...)
	if s.Value() < before {
		return true
	}
	s.Undo()
	return false
}

// repairByPatterns gives all VMs places by patterns. If it fails, nothing has changed.
func (s *search) repairByPatterns() bool {
	mark := len(s.Moves)
	if s.patterned = s.holdPatterns(); !s.patterned {
		s.RollBack(mark)
	}
	return s.patterned
}

// holdPatterns gives the VMs the places of patterns. It reports whether all have one; VMs for which rules leave none among these
// get another.
func (s *search) holdPatterns() bool {
	p := s.patterns()
	if p == nil || s.Aborted() {
		return false
	}
	list := p.Fill()
	if list == nil {
		return false
	}
	for _, vm := range s.Wanted {
		if p.KindOf[vm] >= 0 && s.NodeOf[vm] != repack.Nowhere {
			s.Move(vm, repack.Nowhere)
		}
	}
	left := make([][]int64, len(s.In.Nodes)) // places by node and kind
	for i := range list {
		left[list[i].Node] = slices.Clone(list[i].VMs)
		s.keepResidents(&list[i], left[list[i].Node])
	}
	for _, vm := range s.unplacedVMs() {
		if k := p.KindOf[vm]; k >= 0 {
			s.insertAmong(vm, func(n int) bool { return left[n] != nil && left[n][k] > 0 })
			if n := s.NodeOf[vm]; n != repack.Nowhere {
				left[n][k]--
			}
		}
	}
	s.insertEach(s.unplacedVMs())
	return s.Unplaced == 0
}

// keepResidents leaves VMs at home on a node, as many as it holds of their kind.
func (s *search) keepResidents(held *proof.Held, left []int64) {
	for k := range left {
		for _, vm := range s.patterns().Residents(s.Problem, held.Node, k) {
			if left[k] == 0 {
				break
			}
			if _, ok := s.fittingOffer(vm, held.Node); ok {
				s.Move(vm, held.Node)
				left[k]--
			}
		}
	}
}

// insertAmong gives a VM the best of some nodes, if one takes it.
func (s *search) insertAmong(vm int, among func(node int) bool) {
	best := offer{node: repack.Nowhere, cost: 1 << 62}
	for _, n := range s.OpenNodes {
		if !among(n) {
			continue
		}
		if o, ok := s.fittingOffer(vm, n); ok && o.less(best) {
			best = o
		}
	}
	if best.node != repack.Nowhere {
		s.Move(vm, best.node)
	}
}
