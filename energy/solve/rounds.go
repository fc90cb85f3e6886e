package solve

import (
	"cmp"
	"math"
	"slices"

	"vjob/energy"
)

// promising reports whether a run can still improve on the best allocation.
func (s *search) promising(c *run) bool {
	return s.best == nil || s.Objective.Gap(s.value, c.bound) > 1e-9
}

// firstBranches limits the first attempt at a proof; in round 2 it may take four times as many
// branches.
const firstBranches int64 = 50_000

// rounds resumes runs in rounds, each twice as long as the one before, until the search must
// end or no run is promising. It reports whether the best allocation is proved optimal.
func (s *search) rounds() bool {
	if len(s.runs) == 0 {
		return true // infeasible even with divisible jobs
	}
	proof := s.smallEnough()
	for round := 0; !s.stopped; round++ {
		steps := max(1, s.noJob<<min(round, 20)/8)
		if s.best == nil {
			s.findAny(steps)
			s.addNeighbours()
		} else if !s.round(round, steps) {
			return s.complete
		}
		if proof && round >= 2 && s.prove(firstBranches<<min(round, 30)) {
			return true
		}
	}
	return false
}

// round resumes the runs of one round. It returns false if none is promising.
func (s *search) round(round, steps int) bool {
	if s.Objective == energy.BoundedYield {
		s.bisectCount(steps)
	}
	list, before := s.selectRuns(round), s.stepsLeft
	for _, c := range list {
		if s.promising(c) {
			s.resume(c, steps)
		}
	}
	if !s.whole.alike && len(list) > 0 {
		s.explore(max(16, steps/2), 3*(before-s.stepsLeft))
	}
	return len(list) > 0
}

// manyJobs is the number of jobs above which only a few runs are selected.
const manyJobs = 600

// findAny searches for any allocation. It constructs one with all nodes, which often succeeds;
// then it tries the run with the best bound, then runs with more nodes, then with fewer.
func (s *search) findAny(steps int) {
	for _, c := range s.runs {
		if c.count == len(s.Nodes) && c.at == nil {
			s.resume(c, 0)
		}
	}
	if s.best != nil {
		return
	}
	tried := map[*run]bool{}
	try := func(i int) bool {
		i = min(max(i, 0), len(s.runs)-1)
		if c := s.runs[i]; !tried[c] {
			tried[c] = true
			s.resume(c, steps)
		}
		return s.best != nil || s.stopped
	}
	start := 0
	for i, c := range s.runs {
		if s.Objective.Better(c.bound, s.runs[start].bound) {
			start = i
		}
	}
	for _, way := range []int{1, -1} {
		for far := 0; far < 2*len(s.runs); far = 2*far + 1 {
			if try(start + way*far) {
				return
			}
		}
	}
}

// selectRuns returns the runs of a round, the best expected value first: many in the first
// rounds, fewer later.
func (s *search) selectRuns(round int) []*run {
	s.addNeighbours()
	var list []*run
	for _, c := range s.runs {
		if s.promising(c) {
			list = append(list, c)
		}
	}
	efficiency := s.efficiency()
	slices.SortStableFunc(list, func(a, b *run) int {
		if s.Objective == energy.BoundedYield {
			return cmp.Compare(s.expectedValue(a, efficiency), s.expectedValue(b, efficiency))
		}
		return cmp.Compare(s.expectedValue(b, efficiency), s.expectedValue(a, efficiency))
	})
	others := !s.whole.alike || round%4 == 3 && s.noJob <= manyJobs
	if best := s.bestRun(); s.Objective == energy.BoundedYield && !others && slices.Contains(list, best) {
		return []*run{best} // bisectCount has tried those with fewer nodes
	}
	most := max(2, 8>>round)
	if s.noJob > manyJobs {
		most = 2 // each attempt takes long
	}
	return list[:min(most, len(list))]
}

// bestRun is the run with the best value; of equal values, the fewest nodes.
func (s *search) bestRun() (best *run) {
	for _, c := range s.runs {
		if c.found && (best == nil || s.Objective.Better(c.value, best.value)) {
			best = c
		}
	}
	return best
}

// bisectCount searches for the fewest nodes at a fixed yield. It bisects between the largest
// number at which an attempt of this length failed and the smallest that succeeded; then it
// tries one node fewer.
func (s *search) bisectCount(steps int) {
	for !s.stopped {
		best := s.bestRun()
		i := slices.Index(s.runs, best)
		low := i - 1
		for low >= 0 && s.runs[low].longest < steps {
			low--
		}
		next := (low + i) / 2
		if tight := i - 1; low < 0 && s.runs[max(tight, 0)].longest > 0 {
			next = tight
		}
		if next < 0 || next == low || next == i || !s.promising(s.runs[next]) {
			return
		}
		s.resume(s.runs[next], steps)
		if !s.runs[next].found && next == i-1 {
			return
		}
	}
}

// expectedValue is the value of a run, or its bound, reduced by how far other runs fell short
// of theirs and by each failed attempt.
func (s *search) expectedValue(c *run, efficiency float64) float64 {
	if c.found {
		return c.value
	}
	vain := 0.5 / float64(len(s.Nodes)) // roughly the value of one node
	short := math.Pow(1-vain, float64(c.attempts*c.attempts))
	switch s.Objective {
	case energy.BoundedYield:
		return c.bound / (efficiency * short)
	case energy.BoundedPower: // nodes cannot be filled completely; the budget nearly can
		return min(c.bound, efficiency*s.maxYield(c.count)) * short
	default:
		return c.bound * efficiency * short
	}
}

// efficiency is how close runs came to their bounds, at most 1. Under a budget it is how close
// they came to the capacity of their nodes.
func (s *search) efficiency() (best float64) {
	for _, c := range s.runs {
		limit := c.bound
		if s.Objective == energy.BoundedPower {
			limit = s.maxYield(c.count)
		}
		if c.found && c.value > 0 && limit > 0 {
			best = max(best, min(c.value/limit, limit/c.value))
		}
	}
	if best == 0 {
		return 0.98
	}
	return best
}
