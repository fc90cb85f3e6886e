package solve

import (
	"cmp"
	"slices"

	"vjob/energy"
)

// minYield is a yield that is hardly one.
const minYield = 1e-9

// initialRuns lays out the courses to begin with: for each number of nodes, or on large
// clusters some of them, those that can lead somewhere. Others come when they are next to
// the best one.
func (s *search) initialRuns() {
	floor := max(s.Floor, minYield)
	first, last := s.whole.Count(floor), len(s.Nodes)
	if s.Objective == energy.BoundedPower {
		best := s.balancedCount(first)
		first, last = max(first, best-3), min(last, max(first, best)+3)
	}
	stride := max(1, (last-first)/64)
	s.complete = stride == 1 && (s.whole.Alike() || s.Objective != energy.BoundedPower)
	for n := first; n <= last; n += stride {
		s.addRun(n, false)
		s.addRun(n, true)
	}
	if stride > 1 {
		s.addRun(last, false)
		s.addRun(last, true)
	}
}

// addNeighbours adds the courses beside the best one, or if there is none, beside all.
func (s *search) addNeighbours() {
	if s.best == nil && len(s.runs) > 0 {
		low, high := s.runs[0], s.runs[len(s.runs)-1]
		s.addRun(low.count-1, low.raisesYield)
		for n := 1; n <= 4; n++ {
			s.addRun(high.count+n, high.raisesYield)
		}
		return
	}
	if best := s.bestRun(); best != nil {
		s.addRun(best.count-1, best.raisesYield)
		s.addRun(best.count+1, best.raisesYield)
		if s.Objective == energy.BoundedPower {
			for n := 2; n <= 4; n++ {
				s.addRun(best.count+n, best.raisesYield)
			}
		}
	}
}

// addRun lays out a course if the objective has such, the number of nodes allows it, and it
// is not there yet.
func (s *search) addRun(count int, climbs bool) {
	floor := max(s.Floor, minYield)
	if count < s.whole.Count(floor) || count > len(s.Nodes) {
		return
	}
	c := &run{count: count, raisesYield: climbs, yield: floor, stride: firstStride}
	at, there := slices.BinarySearchFunc(s.runs, c, byCount)
	if there || climbs && s.Objective == energy.BoundedYield {
		return
	}
	ok := true
	switch {
	case s.Objective == energy.BoundedYield:
		c.bound = s.whole.PowerOf(count, floor)
	case s.Objective == energy.BoundedPower && climbs:
		c.bound, ok = s.affordableYield(count, floor)
		c.yield = s.initialYield(c.bound)
	case s.Objective == energy.BoundedPower:
		return
	case climbs:
		y := s.bestYieldForZ(count, floor)
		c.bound, c.yield = s.z(y, count), s.initialYield(y)
		ok = y > floor
	default:
		c.bound = s.z(floor, count)
	}
	if ok {
		s.runs = slices.Insert(s.runs, at, c)
	}
}

func byCount(a, b *run) int {
	if a.raisesYield != b.raisesYield {
		if b.raisesYield {
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

// bestYieldForZ is the yield at which so many nodes have the most Z: Z rises while nodes that are
// cheap to load fill up, and falls, if at all, with those that are dear.
func (s *search) bestYieldForZ(count int, floor float64) float64 {
	low, high := floor, s.maxYield(count)
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

// initialYield is the yield to try for at first if a bound is known: a bit less, unless all
// jobs may get all that they need.
func (s *search) initialYield(y float64) float64 {
	if y >= s.whole.Most() {
		return s.whole.Most()
	}
	return 0.99 * y
}

// maxYield is the largest yield that so many nodes can give.
func (s *search) maxYield(count int) float64 {
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

// balancedCount is the largest number of nodes for whose full use the budget suffices: with
// fewer, capacity is scarce, with more, power is.
func (s *search) balancedCount(first int) int {
	low, high := first-1, len(s.Nodes)
	for low < high {
		n := (low + high + 1) / 2
		if y := s.maxYield(n); s.whole.PowerOf(max(n, s.whole.Count(y)), y) <= float64(s.Budget) {
			low = n
		} else {
			high = n - 1
		}
	}
	return low
}

// affordableYield is a bound on the yield of so many nodes within the budget.
func (s *search) affordableYield(count int, low float64) (float64, bool) {
	within := func(y float64) bool {
		return s.whole.PowerOf(max(count, s.whole.Count(y)), y) <= float64(s.Budget+energy.Excess)
	}
	high := s.maxYield(count)
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
