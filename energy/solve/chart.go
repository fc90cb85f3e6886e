package solve

import (
	"cmp"
	"slices"

	"vjob/energy"
)

// leastYield is a yield that is hardly one.
const leastYield = 1e-9

// chart lays out the courses to begin with: for each number of nodes, or on large
// clusters some of them, those that can lead somewhere. Others come when they are next to
// the best one.
func (s *search) chart() {
	floor := max(s.Floor, leastYield)
	first, last := s.whole.Count(floor), len(s.Nodes)
	if s.Objective == energy.BoundedPower {
		best := s.crossing(first)
		first, last = max(first, best-3), min(last, max(first, best)+3)
	}
	stride := max(1, (last-first)/64)
	s.complete = stride == 1 && (s.whole.Alike() || s.Objective != energy.BoundedPower)
	for n := first; n <= last; n += stride {
		s.add(n, false)
		s.add(n, true)
	}
	if stride > 1 {
		s.add(last, false)
		s.add(last, true)
	}
}

// extend adds the courses beside the best one, or if there is none, beside all.
func (s *search) extend() {
	if s.best == nil && len(s.courses) > 0 {
		low, high := s.courses[0], s.courses[len(s.courses)-1]
		s.add(low.count-1, low.climbs)
		for n := 1; n <= 4; n++ {
			s.add(high.count+n, high.climbs)
		}
		return
	}
	if best := s.leader(); best != nil {
		s.add(best.count-1, best.climbs)
		s.add(best.count+1, best.climbs)
		if s.Objective == energy.BoundedPower {
			for n := 2; n <= 4; n++ {
				s.add(best.count+n, best.climbs)
			}
		}
	}
}

// add lays out a course if the objective has such, the number of nodes allows it, and it
// is not there yet.
func (s *search) add(count int, climbs bool) {
	floor := max(s.Floor, leastYield)
	if count < s.whole.Count(floor) || count > len(s.Nodes) {
		return
	}
	c := &course{count: count, climbs: climbs, yield: floor, spread: firstSpread}
	at, there := slices.BinarySearchFunc(s.courses, c, byCount)
	if there || climbs && s.Objective == energy.BoundedYield {
		return
	}
	ok := true
	switch {
	case s.Objective == energy.BoundedYield:
		c.bound = s.whole.PowerOf(count, floor)
	case s.Objective == energy.BoundedPower && climbs:
		c.bound, ok = s.affords(count, floor)
		c.yield = s.cautious(c.bound)
	case s.Objective == energy.BoundedPower:
		return
	case climbs:
		y := s.peak(count, floor)
		c.bound, c.yield = s.z(y, count), s.cautious(y)
		ok = y > floor
	default:
		c.bound = s.z(floor, count)
	}
	if ok {
		s.courses = slices.Insert(s.courses, at, c)
	}
}

func byCount(a, b *course) int {
	if a.climbs != b.climbs {
		if b.climbs {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.count, b.count)
}

// z bounds the objective of Mixed with so many nodes.
func (s *search) z(yield float64, count int) float64 {
	e := s.whole.PowerOf(count, yield)
	return s.Lambda*yield + (1-s.Lambda)*max(0, 1-e/float64(s.EMax))
}

// peak is the yield at which so many nodes have the most Z: Z rises while nodes that are
// cheap to load fill up, and falls, if at all, with those that are dear.
func (s *search) peak(count int, floor float64) float64 {
	low, high := floor, s.top(count)
	if high <= floor || s.z(high, count) >= s.z(high-(high-floor)/64, count) {
		return high
	}
	for range 12 {
		third := (high - low) / 3
		if s.z(low+third, count) < s.z(high-third, count) {
			low += third
		} else {
			high -= third
		}
	}
	return high
}

// cautious is the yield to try for at first if a bound is known: a bit less, unless all
// jobs may get all that they need.
func (s *search) cautious(y float64) float64 {
	if y >= s.whole.Most() {
		return s.whole.Most()
	}
	return 0.99 * y
}

// top is the largest yield that so many nodes can give.
func (s *search) top(count int) float64 {
	sizes := make([]float64, len(s.Nodes))
	for n := range sizes {
		sizes[n] = s.Nodes[n].CPU
	}
	slices.Sort(sizes)
	sum := 0.0
	for _, v := range sizes[len(sizes)-count:] {
		sum += v
	}
	return min(s.whole.Most(), sum/s.demand)
}

// crossing is the largest number of nodes for whose full use the budget suffices: with
// fewer, capacity is scarce, with more, power is.
func (s *search) crossing(first int) int {
	low, high := first-1, len(s.Nodes)
	for low < high {
		n := (low + high + 1) / 2
		if y := s.top(n); s.whole.PowerOf(max(n, s.whole.Count(y)), y) <= float64(s.Budget) {
			low = n
		} else {
			high = n - 1
		}
	}
	return low
}

// affords is a bound on the yield of so many nodes within the budget.
func (s *search) affords(count int, low float64) (float64, bool) {
	within := func(y float64) bool {
		return s.whole.PowerOf(max(count, s.whole.Count(y)), y) <= float64(s.Budget+energy.Excess)
	}
	high := s.top(count)
	switch {
	case low > high || !within(low):
		return 0, false
	case within(high):
		return high, true
	}
	for high-low > 1e-7*high {
		if y := (low + high) / 2; within(y) {
			low = y
		} else {
			high = y
		}
	}
	return high, true
}
