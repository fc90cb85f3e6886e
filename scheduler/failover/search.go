package failover

import (
	"cmp"
	"slices"

	"vjob/cluster"
)

// search looks for places for the VMs of some nodes on the others, the largest VM first.
type search struct {
	nodes   []Node
	free    []cluster.Resources // at least 0
	biggest cluster.Resources
	order   []int // nodes that offer something, the emptiest first
	used    []cluster.Resources
	touched []int // nodes with something in used
	vms     []cluster.Resources
}

func newSearch(nodes []Node) *search {
	s := &search{nodes: nodes, biggest: largestOf(nodes), free: make([]cluster.Resources, len(nodes)), used: make([]cluster.Resources, len(nodes))}
	room := make([]float64, len(nodes)) // for how many of the largest VMs
	for i := range nodes {
		free := cluster.Resources{CPU: max(0, nodes[i].Free.CPU), Memory: max(0, nodes[i].Free.Memory)}
		if free.IsZero() {
			continue
		}
		s.order, s.free[i] = append(s.order, i), free
		room[i] = min(float64(free.CPU)/float64(max(1, s.biggest.CPU)), float64(free.Memory)/float64(max(1, s.biggest.Memory)))
	}
	slices.SortStableFunc(s.order, func(a, b int) int { return cmp.Compare(room[b], room[a]) })
	return s
}

// largest returns the size of the largest VM.
func (s *search) largest() (size cluster.Resources) {
	for i := range s.nodes {
		for _, vm := range s.nodes[i].VMs {
			if bulk(vm, s.biggest) > bulk(size, s.biggest) {
				size = vm
			}
		}
	}
	return size
}

// each calls a function with each set of n nodes until it returns false.
func (s *search) each(n int, do func(lost []int) bool) {
	lost := make([]int, 0, n)
	var choose func(from int) bool
	choose = func(from int) bool {
		if len(lost) == n {
			return do(lost)
		}
		for i := from; i <= len(s.nodes)-(n-len(lost)); i++ {
			lost = append(lost, i)
			more := choose(i + 1)
			lost = lost[:len(lost)-1]
			if !more {
				return false
			}
		}
		return true
	}
	choose(0)
}

// place looks for places for the VMs of some nodes: first where most is free, which is found soon, then where least is
// left. It returns a VM without a place.
func (s *search) place(lost []int) (stuck cluster.Resources, ok bool) {
	s.vms = s.vms[:0]
	for _, i := range lost {
		s.vms = append(s.vms, s.nodes[i].VMs...)
	}
	slices.SortFunc(s.vms, byBulk(s.biggest))
	if _, ok = s.placeAll(lost, s.firstFit); ok {
		return stuck, true
	}
	return s.placeAll(lost, s.bestFit)
}

// placeAll gives the VMs nodes that a function chooses, or -1.
func (s *search) placeAll(lost []int, choose func(vm cluster.Resources, lost []int) int) (stuck cluster.Resources, ok bool) {
	defer func() {
		for _, i := range s.touched {
			s.used[i] = cluster.Resources{}
		}
		s.touched = s.touched[:0]
	}()
	for _, vm := range s.vms {
		at := choose(vm, lost)
		if at < 0 {
			return vm, false
		}
		s.used[at] = s.used[at].Plus(vm)
		s.touched = append(s.touched, at)
	}
	return stuck, true
}

// firstFit returns the emptiest node, as they were at first, that has room.
func (s *search) firstFit(vm cluster.Resources, lost []int) int {
	for _, i := range s.order {
		if vm.Fits(s.free[i].Minus(s.used[i])) && !slices.Contains(lost, i) {
			return i
		}
	}
	return -1
}

// bestFit returns the node of which least is left over.
func (s *search) bestFit(vm cluster.Resources, lost []int) int {
	best, least := -1, 0.0
	for _, i := range s.order {
		left := s.free[i].Minus(s.used[i])
		if !vm.Fits(left) || slices.Contains(lost, i) {
			continue
		}
		over := left.Minus(vm)
		rest := float64(over.CPU)/float64(max(1, s.biggest.CPU)) + float64(over.Memory)/float64(max(1, s.biggest.Memory))
		if best < 0 || rest < least {
			best, least = i, rest
		}
	}
	return best
}
