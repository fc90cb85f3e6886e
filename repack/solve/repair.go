package solve

import (
	"vjob/repack"
)

// repair places everybody so that little moves: who runs stays, who sleeps is
// resumed where its image lies; where that is too much for a node, the cheapest
// go; and who has no place gets one, the bulky first. The VMs that found none are
// left nowhere.
func (s *search) repair() {
	s.dedicate()
	s.note()
	for _, vm := range s.hot {
		if h := s.home[vm]; h != repack.Nowhere && s.mayEnd(vm, h) && s.worth(vm, h) {
			s.move(vm, h)
		}
	}
	s.mend()
	for n := range s.here {
		if s.over(n) {
			s.relieve(n)
		}
	}
	for _, vm := range s.placeAll(s.homeless()) {
		if s.aborted() {
			break
		}
		_ = s.squeeze(vm, 1) || s.squeeze(vm, 2)
	}
	s.reconsider()
	s.noted = false
	s.refresh(s.order...)
}

// worth reports whether being at home costs a VM no more in soft rules than being
// elsewhere.
func (s *search) worth(vm, home int) bool {
	_, penalty := s.delta(vm, repack.Nowhere, home)
	return penalty == 0 || s.near[vm]+penalty <= s.far[vm]
}

// homeless are the VMs that have no place, the bulky first.
func (s *search) homeless() (list []int) {
	for _, vm := range s.hot {
		if s.at[vm] == repack.Nowhere {
			list = append(list, vm)
		}
	}
	s.byBulk(list)
	return list
}

// placeAll places the VMs one by one and returns those for which there is no room.
func (s *search) placeAll(vms []int) (failed []int) {
	for _, vm := range vms {
		if !s.place(vm) {
			failed = append(failed, vm)
		}
	}
	return failed
}
