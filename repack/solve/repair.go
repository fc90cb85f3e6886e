package solve

import (
	"vjob/repack"
)

// repair places everybody so that little moves: who runs stays, who sleeps is
// resumed where its image lies; where that is too much for a node, the cheapest
// go; and who has no place gets one, the bulky first. The VMs that found none are
// left nowhere.
func (s *search) repair() {
	s.assignDedicated()
	s.record()
	for _, vm := range s.wanted {
		if h := s.home[vm]; h != repack.Nowhere && s.mayEnd(vm, h) && s.worthHome(vm, h) {
			s.move(vm, h)
		}
	}
	s.repairRules()
	for n := range s.vmsOn {
		if s.overloaded(n) {
			s.evict(n)
		}
	}
	for _, vm := range s.insertEach(s.unplacedVMs()) {
		if s.aborted() {
			break
		}
		_ = s.displace(vm, 1) || s.displace(vm, 2)
	}
	s.replaceDelayed()
	s.recording = false
	s.refreshDelays(s.openNodes...)
}

// worthHome reports whether being at home costs a VM no more in soft rules than being
// elsewhere.
func (s *search) worthHome(vm, home int) bool {
	_, penalty := s.delta(vm, repack.Nowhere, home)
	return penalty == 0 || s.homeCost[vm]+penalty <= s.awayCost[vm]
}

// unplacedVMs are the VMs that have no place, the bulky first.
func (s *search) unplacedVMs() (list []int) {
	for _, vm := range s.wanted {
		if s.nodeOf[vm] == repack.Nowhere {
			list = append(list, vm)
		}
	}
	s.byBulk(list)
	return list
}

// insertEach places the VMs one by one and returns those for which there is no room.
func (s *search) insertEach(vms []int) (failed []int) {
	for _, vm := range vms {
		if !s.insert(vm) {
			failed = append(failed, vm)
		}
	}
	return failed
}
