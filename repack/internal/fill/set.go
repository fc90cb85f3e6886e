package fill

// set is some of the numbers 0 to n-1, in no order.
type set struct {
	list  []int
	index []int // of each number in the list; -1
}

func newSet(n int) set {
	s := set{index: make([]int, n)}
	for i := range s.index {
		s.index[i] = -1
	}
	return s
}

// put adds a number, or removes it.
func (s *set) put(x int, in bool) {
	switch k := s.index[x]; {
	case in == (k >= 0):
	case in:
		s.index[x] = len(s.list)
		s.list = append(s.list, x)
	default:
		last := s.list[len(s.list)-1]
		s.list[k], s.index[last] = last, k
		s.list, s.index[x] = s.list[:len(s.list)-1], -1
	}
}
