package solve

import (
	"cmp"
	"slices"

	"vjob/repack"
)

// repairRules takes VMs away until no hard rule is broken, each time the one that helps
// at the least cost. They are left nowhere.
func (s *search) repairRules() { s.restoreRules(0) }

// evictForRule takes one VM away so that a guard counts less.
func (s *search) evictForRule(number int) bool {
	best, least := repack.Nowhere, evictionCost{}
	for _, vm := range s.wanted {
		n := s.nodeOf[vm]
		if n == repack.Nowhere || s.rooted[vm] && s.staysAt(vm, n) || slices.Contains(s.kept, vm) {
			continue
		}
		g := &s.guards[number]
		if !slices.Contains(s.guardsOfVM[vm], number) && !slices.Contains(s.guardsOfNode[n], number) && !slices.Contains(s.globalGuards, number) {
			continue
		}
		if !g.nodes.touches(n, repack.Nowhere) || g.Delta(vm, n, repack.Nowhere) >= 0 {
			continue
		}
		p := evictionCost{s.awayCost[vm] - s.Problem.placeCost(vm, n), s.bulk(vm)}
		if best == repack.Nowhere || p.less(least) {
			best, least = vm, p
		}
	}
	if best == repack.Nowhere {
		return false
	}
	s.move(best, repack.Nowhere)
	return true
}

// squeezeNodes is how many nodes are tried for a VM that fits nowhere.
const squeezeNodes = 24

// displace makes room for a VM that fits nowhere by taking others from a node that
// find room elsewhere, or make it in turn, up to some depth. It needs a trail.
func (s *search) displace(vm, depth int) bool {
	s.kept = append(s.kept, vm)
	defer func() { s.kept = s.kept[:len(s.kept)-1] }()
	for _, n := range s.closestNodes(vm) {
		mark, broken := len(s.moves), s.breaches
		s.move(vm, n)
		s.restoreRules(broken)
		if _, ok := s.evict(n); ok && s.breaches <= broken && s.insertAll(s.displaced(mark), depth) {
			return true
		}
		s.rollBack(mark)
	}
	return false
}

// restoreRules takes VMs away until no more rules are broken than before.
func (s *search) restoreRules(before int) {
	for s.breaches > before {
		number := slices.IndexFunc(s.breachesOf, func(n int) bool { return n > 0 })
		for number < len(s.breachesOf) && (s.breachesOf[number] <= 0 || s.guards[number].penalty > 0) {
			number++
		}
		if number == len(s.breachesOf) || !s.evictForRule(number) {
			return
		}
	}
}

// insertAll finds places for VMs that were taken away to make room.
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

// closestNodes are the nodes that lack the least to take the VM.
func (s *search) closestNodes(vm int) []int {
	type lack struct {
		node int
		over int64
	}
	compare := func(a, b lack) int { return cmp.Or(cmp.Compare(a.over, b.over), cmp.Compare(a.node, b.node)) }
	least := make([]lack, 0, squeezeNodes+1) // of thousands of nodes a few are wanted
	for _, n := range s.openNodes {
		if !s.mayEnd(vm, n) {
			continue
		}
		breaches, _ := s.delta(vm, repack.Nowhere, n)
		over := int64(max(0, breaches)) * 100_000 // others would have to go for that
		for d := range s.dims {
			if need := s.next[vm*s.dims+d]; need > 0 && s.average[d] > 0 {
				over += max(0, s.endLoad[n*s.dims+d]+need-s.room[n*s.dims+d]) * 1_000_000 / s.average[d]
			}
		}
		l := lack{n, s.perturb(over)}
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
