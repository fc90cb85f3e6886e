package solve

import (
	"vjob/repack"
)

// repair places all VMs so that little moves: running VMs stay, and sleeping VMs are resumed
// where their image is. Where a node lacks room, the cheapest VMs leave; then VMs without a
// place get one, the largest first. Some may be left without.
func (s *search) repair() {
	s.assignDedicated()
	s.Record()
	for _, vm := range s.Wanted {
		if h := s.Home[vm]; h != repack.Nowhere && s.MayEnd(vm, h) && s.worthHome(vm, h) {
			s.Move(vm, h)
		}
	}
	s.repairRules()
	for n := range s.VMsOn.All() {
		if s.Overloaded(n) {
			s.Evict(n)
		}
	}
	if failed := s.insertEach(s.unplacedVMs()); len(failed) > 0 && !s.repairByPatterns() {
		s.displaceFor(failed)
	}
	s.replaceDelayed()
	s.Recording = false
	s.RefreshDelays(s.OpenNodes...)
}

// displaceFor gives VMs a place where others leave for them, as far as that succeeds.
func (s *search) displaceFor(vms []int) {
	for _, vm := range vms {
		if s.Aborted() {
			return
		}
		_ = s.displace(vm, 1) || s.displace(vm, 2)
	}
}

// worthHome reports whether a VM at home costs no more than elsewhere, soft rules included.
func (s *search) worthHome(vm, home int) bool {
	_, penalty := s.Delta(vm, repack.Nowhere, home)
	return penalty == 0 || s.HomeCost[vm]+penalty <= s.AwayCost[vm]
}

// unplacedVMs returns the VMs without a place, the largest first.
func (s *search) unplacedVMs() (list []int) {
	for _, vm := range s.Wanted {
		if s.NodeOf[vm] == repack.Nowhere {
			list = append(list, vm)
		}
	}
	s.byBulk(list)
	return list
}

// insertEach places VMs one by one and returns those that fit nowhere.
func (s *search) insertEach(vms []int) (failed []int) {
	for _, vm := range vms {
		if !s.insert(vm) {
			failed = append(failed, vm)
		}
	}
	return failed
}
