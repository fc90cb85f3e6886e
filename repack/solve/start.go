package solve

import (
	"vjob/repack"
	"vjob/repack/admission"
	"vjob/repack/internal/problem"
)

// startFromAdmission places all VMs as an admission test does, gang by gang, if the test takes
// all and that is better than the current placement.
func (s *search) startFromAdmission() bool {
	t := admission.Of(problem.New(s.In, s.Objective), admission.Options{})
	for _, gang := range gangs(s.Problem) {
		if ok, _ := t.Take(gang); !ok {
			return false
		}
	}
	before := s.Value()
	s.Record()
	for _, vm := range s.Wanted {
		s.Move(vm, repack.Nowhere)
	}
	for _, vm := range s.Wanted {
		s.Move(vm, t.At(vm))
	}
	s.Recording = false
	s.RefreshDelays(s.OpenNodes...)
	if s.Value() < before {
		return true
	}
	s.Undo()
	return false
}

// gangs returns the VMs that run at the end: the members of each gang together, each of the
// others alone.
func gangs(m *problem.Problem) (list [][]int) {
	of := map[int]int{}
	for _, vm := range m.Wanted {
		g := m.GangOf[vm]
		at, ok := of[g]
		if !ok || g < 0 {
			at = len(list)
			list = append(list, nil)
			of[g] = at
		}
		list[at] = append(list[at], vm)
	}
	return list
}
