package solve

import (
	"slices"

	"vjob/repack"
)

// dedicate gives each clan its nodes, those first where that costs least, until
// all its VMs have room there. It is called while nobody has a place.
func (s *search) dedicate() {
	clans := s.bounds.clans()
	if len(clans) == 0 {
		return
	}
	s.clan, s.owner = make([]int, len(s.in.VMs)), make([]int, len(s.in.Nodes))
	for i, vms := range clans {
		for _, vm := range vms {
			s.clan[vm] = i + 1
		}
	}
	for i, vms := range clans {
		stakes := s.bounds.stakes(vms)
		next := 0
		for ; next < len(stakes) && stakes[next].in < stakes[next].out; next++ {
			s.own(stakes[next].node, i+1)
		}
		for !s.hosts(vms) && next < len(stakes) && stakes[next].in < never {
			s.own(stakes[next].node, i+1)
			next++
		}
	}
}

// own gives a node to a clan, if it has none.
func (s *search) own(node, clan int) {
	if s.owner[node] == 0 {
		s.owner[node] = clan
	}
}

// hosts reports whether the nodes of a clan have room for all its VMs.
func (s *search) hosts(vms []int) bool {
	s.note()
	defer func() {
		s.back(0)
		s.noted = false
	}()
	for _, vm := range vms {
		if h := s.home[vm]; h != repack.Nowhere && s.mayEnd(vm, h) && s.fits(vm, h) {
			s.move(vm, h)
		}
	}
	list := slices.DeleteFunc(slices.Clone(vms), func(vm int) bool { return s.at[vm] != repack.Nowhere })
	s.byBulk(list)
	return len(s.placeAll(list)) == 0
}
