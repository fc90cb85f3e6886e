package solve

import "vjob/repack"

// startFromAdmission has everybody take the places that a trial finds, gang by gang, if it finds
// places for all and that is better than what there is.
func (s *search) startFromAdmission() bool {
	t := newTest(NewProblem(s.in, s.objective), TestOptions{})
	for _, gang := range gangs(s.Problem) {
		if ok, _ := t.Take(gang); !ok {
			return false
		}
	}
	before := s.value()
	s.record()
	for _, vm := range s.wanted {
		s.move(vm, repack.Nowhere)
	}
	for _, vm := range s.wanted {
		s.move(vm, t.nodeOf[vm])
	}
	s.recording = false
	s.refreshDelays(s.openNodes...)
	if s.value() < before {
		return true
	}
	s.undo()
	return false
}

// gangs are the VMs that are to run: those of each gang, and each of the others alone.
func gangs(m *Problem) (list [][]int) {
	of := map[int]int{}
	for _, vm := range m.wanted {
		g := m.gangOf[vm]
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
