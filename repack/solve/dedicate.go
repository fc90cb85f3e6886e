package solve

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/problem"
)

// assignDedicated gives each group its nodes, the cheapest first, until all its VMs have room
// there. No VM has a place yet.
func (s *search) assignDedicated() {
	groups := s.bounds.ExclusiveGroups()
	if len(groups) == 0 {
		return
	}
	s.GroupOf, s.OwnerOf = make([]int, len(s.In.VMs)), make([]int, len(s.In.Nodes))
	for i, vms := range groups {
		for _, vm := range vms {
			s.GroupOf[vm] = i + 1
		}
	}
	for i, vms := range groups {
		stakes := s.bounds.DedicationCosts(vms)
		next := 0
		for ; next < len(stakes) && stakes[next].In < stakes[next].Out; next++ {
			s.claim(stakes[next].Node, i+1)
		}
		for !s.holdsAll(vms) && next < len(stakes) && stakes[next].In < problem.Never {
			s.claim(stakes[next].Node, i+1)
			next++
		}
	}
}

// claim gives a node to a group, if it has none.
func (s *search) claim(node, group int) {
	if s.OwnerOf[node] == 0 {
		s.OwnerOf[node] = group
	}
}

// holdsAll reports whether the nodes of a group have room for all its VMs.
func (s *search) holdsAll(vms []int) bool {
	s.Record()
	defer func() {
		s.RollBack(0)
		s.Recording = false
	}()
	for _, vm := range vms {
		if h := s.Home[vm]; h != repack.Nowhere && s.MayEnd(vm, h) && s.Fits(vm, h) {
			s.Move(vm, h)
		}
	}
	list := slices.DeleteFunc(slices.Clone(vms), func(vm int) bool { return s.NodeOf[vm] != repack.Nowhere })
	s.byBulk(list)
	return len(s.insertEach(list)) == 0
}
