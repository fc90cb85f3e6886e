package solve

import (
	"cmp"
	"slices"

	"vjob/repack"
)

// mend takes VMs away until no hard rule is broken, each time the one that helps
// at the least cost. They are left nowhere.
func (s *search) mend() { s.pacify(0) }

// ease takes one VM away so that a guard counts less.
func (s *search) ease(number int) bool {
	best, least := repack.Nowhere, price{}
	for _, vm := range s.hot {
		n := s.at[vm]
		if n == repack.Nowhere || s.rooted[vm] && s.staysAt(vm, n) || slices.Contains(s.held, vm) {
			continue
		}
		g := &s.guards[number]
		if !slices.Contains(s.ofVM[vm], number) && !slices.Contains(s.ofNode[n], number) && !slices.Contains(s.ofAll, number) {
			continue
		}
		if !g.nodes.touches(n, repack.Nowhere) || g.Delta(vm, n, repack.Nowhere) >= 0 {
			continue
		}
		p := price{s.far[vm] - s.model.cost(vm, n), s.bulk(vm)}
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

// squeeze makes room for a VM that fits nowhere by taking others from a node that
// find room elsewhere, or make it in turn, up to some depth. It needs a trail.
func (s *search) squeeze(vm, depth int) bool {
	s.held = append(s.held, vm)
	defer func() { s.held = s.held[:len(s.held)-1] }()
	for _, n := range s.tightest(vm) {
		mark, broken := len(s.trail), s.breaches
		s.move(vm, n)
		s.pacify(broken)
		if _, ok := s.relieve(n); ok && s.breaches <= broken && s.rehouse(s.ousted(mark), depth) {
			return true
		}
		s.back(mark)
	}
	return false
}

// pacify takes VMs away until no more rules are broken than before.
func (s *search) pacify(before int) {
	for s.breaches > before {
		number := slices.IndexFunc(s.count, func(n int) bool { return n > 0 })
		for number < len(s.count) && (s.count[number] <= 0 || s.guards[number].penalty > 0) {
			number++
		}
		if number == len(s.count) || !s.ease(number) {
			return
		}
	}
}

// rehouse finds places for VMs that were taken away to make room.
func (s *search) rehouse(vms []int, depth int) bool {
	list := slices.Clone(vms)
	s.byBulk(list)
	for _, vm := range list {
		if !s.place(vm) && (depth == 0 || !s.squeeze(vm, depth-1)) {
			return false
		}
	}
	return true
}

// tightest are the nodes that lack the least to take the VM.
func (s *search) tightest(vm int) []int {
	type lack struct {
		node int
		over int64
	}
	compare := func(a, b lack) int { return cmp.Or(cmp.Compare(a.over, b.over), cmp.Compare(a.node, b.node)) }
	least := make([]lack, 0, squeezeNodes+1) // of thousands of nodes a few are wanted
	for _, n := range s.order {
		if !s.mayEnd(vm, n) {
			continue
		}
		breaches, _ := s.delta(vm, repack.Nowhere, n)
		over := int64(max(0, breaches)) * 100_000 // others would have to go for that
		for d := range s.dims {
			if need := s.next[vm*s.dims+d]; need > 0 && s.average[d] > 0 {
				over += max(0, s.load[n*s.dims+d]+need-s.room[n*s.dims+d]) * 1_000_000 / s.average[d]
			}
		}
		l := lack{n, s.noisy(over)}
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
