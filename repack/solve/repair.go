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
	s.Record()
	for _, vm := range s.Wanted {
		if h := s.Home[vm]; h != repack.Nowhere && s.MayEnd(vm, h) && s.worthHome(vm, h) {
			s.Move(vm, h)
		}
	}
	s.repairRules()
	for n := range s.VMsOn {
		if s.Overloaded(n) {
			s.Evict(n)
		}
	}
	for _, vm := range s.insertEach(s.unplacedVMs()) {
		if s.Aborted() {
			break
		}
		_ = s.displace(vm, 1) || s.displace(vm, 2)
	}
	s.replaceDelayed()
	s.Recording = false
	s.RefreshDelays(s.OpenNodes...)
}

// worthHome reports whether being at home costs a VM no more in soft rules than being
// elsewhere.
func (s *search) worthHome(vm, home int) bool {
	_, penalty := s.Delta(vm, repack.Nowhere, home)
	return penalty == 0 || s.HomeCost[vm]+penalty <= s.AwayCost[vm]
}

// unplacedVMs are the VMs that have no place, the bulky first.
func (s *search) unplacedVMs() (list []int) {
	for _, vm := range s.Wanted {
		if s.NodeOf[vm] == repack.Nowhere {
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
