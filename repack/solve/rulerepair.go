package solve

import (
	"cmp"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/problem"
)

// repairRules evicts VMs until no hard rule is broken, each time the one that helps at the
// least cost.
func (s *search) repairRules() { s.restoreRules(0) }

// evictForRule evicts one VM so that a guard counts less.
func (s *search) evictForRule(number int) bool {
	best, least := repack.Nowhere, problem.EvictionCost{}
	for _, vm := range s.Wanted {
		n := s.NodeOf[vm]
		if n == repack.Nowhere || s.Rooted[vm] && s.StaysAt(vm, n) || slices.Contains(s.Kept, vm) {
			continue
		}
		g := &s.Guards[number]
		if !slices.Contains(s.GuardsOfVM[vm], number) && !slices.Contains(s.GuardsOfNode.At(n), number) && !slices.Contains(s.GlobalGuards, number) {
			continue
		}
		if !g.Nodes.Touches(n, repack.Nowhere) || g.Delta(vm, n, repack.Nowhere) >= 0 {
			continue
		}
		p := problem.EvictionCost{Cost: s.AwayCost[vm] - s.PlaceCost(vm, n), Bulk: s.Bulk[vm]}
		if best == repack.Nowhere || p.Less(least) {
			best, least = vm, p
		}
	}
	if best == repack.Nowhere {
		return false
	}
	s.Move(best, repack.Nowhere)
	return true
}

// squeezeNodes bounds the nodes that are tried for a VM that fits nowhere.
const squeezeNodes = 24

// displace makes room for a VM that fits nowhere: it evicts others from a node, which find
// room elsewhere or displace others in turn, up to some depth. Moves must be recorded.
func (s *search) displace(vm, depth int) bool {
	s.Kept = append(s.Kept, vm)
	defer func() { s.Kept = s.Kept[:len(s.Kept)-1] }()
	for _, n := range s.closestNodes(vm) {
		mark, broken := len(s.Moves), s.Breaches
		s.Move(vm, n)
		s.restoreRules(broken)
		if _, ok := s.Evict(n); ok && s.Breaches <= broken && s.insertAll(s.Displaced(mark), depth) {
			return true
		}
		s.RollBack(mark)
	}
	return false
}

// restoreRules evicts VMs until no more rules are broken than before.
func (s *search) restoreRules(before int) {
	for s.Breaches > before {
		number := slices.IndexFunc(s.BreachesOf, func(n int) bool { return n > 0 })
		for number < len(s.BreachesOf) && (s.BreachesOf[number] <= 0 || s.Guards[number].Penalty > 0) {
			number++
		}
		if number == len(s.BreachesOf) || !s.evictForRule(number) {
			return
		}
	}
}

// insertAll finds places for displaced VMs.
func (s *search) insertAll(vms []int, depth int) bool {
	list := slices.Clone(vms)
	s.byBulk(list)
	for _, vm := range list {
		if !s.insert(vm) && (depth == 0 || !s.displace(vm, depth-1)) {
			return false
		}
	}
	return true
}

// closestNodes returns the nodes that lack the least for the VM.
func (s *search) closestNodes(vm int) []int {
	type lack struct {
		node int
		over int64
	}
	compare := func(a, b lack) int { return cmp.Or(cmp.Compare(a.over, b.over), cmp.Compare(a.node, b.node)) }
	least := make([]lack, 0, squeezeNodes+1) // a few of thousands of nodes
	for _, n := range s.OpenNodes {
		if !s.MayEnd(vm, n) {
			continue
		}
		breaches, _ := s.Delta(vm, repack.Nowhere, n)
		over := int64(max(0, breaches)) * 100_000 // others would have to go for that
		for d := range s.Dims {
			if need := s.Next[vm*s.Dims+d]; need > 0 && s.Average[d] > 0 {
				over += max(0, s.EndLoad[n*s.Dims+d]+need-s.Room[n*s.Dims+d]) * 1_000_000 / s.Average[d]
			}
		}
		l := lack{n, s.Perturb(over)}
		i, _ := slices.BinarySearchFunc(least, l, compare)
		least = slices.Insert(least, i, l)
		least = least[:min(len(least), squeezeNodes)]
	}
	nodes := make([]int, len(least))
	for i, l := range least {
		nodes[i] = l.node
	}
	return nodes
}
