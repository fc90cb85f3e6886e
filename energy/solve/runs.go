package solve

import (
	"cmp"
	"slices"

	"vjob/energy"
)

// minYield stands for a yield just above 0.
const minYield = 1e-9

// initialRuns adds the runs to begin with: one for each number of nodes that can lead to an
// improvement, or on large clusters for a sample. Others are added next to the best run.
func (s *search) initialRuns() {
	floor := max(s.Floor, minYield)
	first, last := s.whole.count(floor), len(s.Nodes)
	if s.Objective == energy.BoundedPower {
		best := s.balancedCount(first)
		first, last = max(first, best-3), min(last, max(first, best)+3)
	}
	stride := max(1, (last-first)/64)
	s.complete = stride == 1 && (s.whole.alike || s.Objective != energy.BoundedPower)
	for n := first; n <= last; n += stride {
		s.addRun(n, false)
		s.addRun(n, true)
	}
	if stride > 1 {
		s.addRun(last, false)
		s.addRun(last, true)
	}
}

// addNeighbours adds the runs next to the best one, or before an allocation is found, at both
// ends.
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

// addRun adds a run unless it exists, the objective has no such run or the number of nodes is
// out of range.
func (s *search) addRun(count int, climbs bool) {
	floor := max(s.Floor, minYield)
	if count < s.whole.count(floor) || count > len(s.Nodes) {
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
		c.bound = s.whole.powerOf(count, floor)
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

// z bounds the objective of Mixed for a number of nodes.
func (s *search) z(yield float64, count int) float64 {
	e := s.whole.powerOf(count, yield)
	return s.Lambda*yield + (1-s.Lambda)*max(0, 1-e/float64(s.EMax))
}

// bestYieldForZ is the yield with the largest bound on Z for a number of nodes. Z rises while
// nodes with a flat power curve fill up; it may fall once steep ones do.
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

// initialYield is the first target below a known bound: slightly less, unless all jobs may get
// all they need.
func (s *search) initialYield(y float64) float64 {
	if y >= s.whole.most() {
		return s.whole.most()
	}
	return 0.99 * y
}

// maxYield is the largest yield for a number of nodes.
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
	return min(s.whole.most(), sum/s.demand)
}

// balancedCount is the largest number of nodes that the budget covers at full load: with fewer
// nodes capacity is scarce, with more nodes power is.
func (s *search) balancedCount(first int) int {
	low, high := first-1, len(s.Nodes)
	for low < high {
		n := (low + high + 1) / 2
		if y := s.maxYield(n); s.whole.powerOf(max(n, s.whole.count(y)), y) <= float64(s.Budget) {
			low = n
		} else {
			high = n - 1
		}
	}
	return low
}

// affordableYield bounds the yield of a number of nodes within the budget.
func (s *search) affordableYield(count int, low float64) (float64, bool) {
	within := func(y float64) bool {
		return s.whole.powerOf(max(count, s.whole.count(y)), y) <= float64(s.Budget+energy.Excess)
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
