package solve

import "vjob/repack"

// recast has everybody take the places that a trial finds, gang by gang, if it finds
// places for all and that is better than what there is.
func (s *search) recast() bool {
	t := newTrial(newModel(s.in, s.aim), TrialOptions{})
	for _, gang := range gangs(s.model) {
		if ok, _ := t.Take(gang); !ok {
			return false
		}
	}
	before := s.value()
	s.note()
	for _, vm := range s.hot {
		s.move(vm, repack.Nowhere)
	}
	for _, vm := range s.hot {
		s.move(vm, t.at[vm])
	}
	s.noted = false
	s.refresh(s.order...)
	if s.value() < before {
		return true
	}
	s.undo()
	return false
}

// gangs are the VMs that are to run: those of each gang, and each of the others alone.
func gangs(m *model) (list [][]int) {
	of := map[int]int{}
	for _, vm := range m.hot {
		g := m.gang[vm]
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
