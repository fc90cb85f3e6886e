package solve

import (
	"slices"

	"vjob/repack"
)

// assignDedicated gives each clan its nodes, those first where that costs least, until
// all its VMs have room there. It is called while nobody has a place.
func (s *search) assignDedicated() {
	clans := s.bounds.exclusiveGroups()
	if len(clans) == 0 {
		return
	}
	s.groupOf, s.ownerOf = make([]int, len(s.in.VMs)), make([]int, len(s.in.Nodes))
	for i, vms := range clans {
		for _, vm := range vms {
			s.groupOf[vm] = i + 1
		}
	}
	for i, vms := range clans {
		stakes := s.bounds.dedicationCosts(vms)
		next := 0
		for ; next < len(stakes) && stakes[next].in < stakes[next].out; next++ {
			s.claim(stakes[next].node, i+1)
		}
		for !s.holdsAll(vms) && next < len(stakes) && stakes[next].in < Never {
			s.claim(stakes[next].node, i+1)
			next++
		}
	}
}

// claim gives a node to a clan, if it has none.
func (s *search) claim(node, clan int) {
	if s.ownerOf[node] == 0 {
		s.ownerOf[node] = clan
	}
}

// holdsAll reports whether the nodes of a clan have room for all its VMs.
func (s *search) holdsAll(vms []int) bool {
	s.record()
	defer func() {
		s.rollBack(0)
		s.recording = false
	}()
	for _, vm := range vms {
		if h := s.home[vm]; h != repack.Nowhere && s.mayEnd(vm, h) && s.fits(vm, h) {
			s.move(vm, h)
		}
	}
	list := slices.DeleteFunc(slices.Clone(vms), func(vm int) bool { return s.nodeOf[vm] != repack.Nowhere })
	s.byBulk(list)
	return len(s.insertEach(list)) == 0
}
