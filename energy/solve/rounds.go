package solve

import (
	"cmp"
	"math"
	"slices"

	"vjob/energy"
)

// promising reports whether a course can still lead to something better.
func (s *search) promising(c *run) bool {
	return s.best == nil || s.Objective.Gap(s.value, c.bound) > 1e-9
}

// firstBranches is a quarter of the branches that the first attempt at a proof may look at.
const firstBranches int64 = 50_000

// rounds follows courses in rounds, each twice as long as the one before, until the time
// is up or no course is promising. True: the best is proved.
func (s *search) rounds() bool {
	if len(s.runs) == 0 {
		return true // even with divisible jobs no number of nodes will do
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

// round follows the courses of a round; false: none is promising any more.
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
	if !s.whole.Alike() && len(list) > 0 {
		s.explore(max(16, steps/2), 3*(before-s.stepsLeft))
	}
	return len(list) > 0
}

// manyJobs are so many that only few courses can be followed.
const manyJobs = 600

// findAny looks for any allocation: one made in one go with all nodes will often do; else on
// the course that promises most, then with more and more nodes, then with fewer.
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

// selectRuns are the courses of a round: at first a look at many, then those that have most
// to promise.
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
	others := !s.whole.Alike() || round%4 == 3 && s.noJob <= manyJobs
	if best := s.bestRun(); s.Objective == energy.BoundedYield && !others && slices.Contains(list, best) {
		return []*run{best} // those with fewer nodes have had their turn
	}
	most := max(2, 8>>round)
	if s.noJob > manyJobs {
		most = 2 // each takes its time
	}
	return list[:min(most, len(list))]
}

// bestRun is the course that has the best value, of equals the one with the fewest nodes.
func (s *search) bestRun() (best *run) {
	for _, c := range s.runs {
		if c.found && (best == nil || s.Objective.Better(c.value, best.value)) {
			best = c
		}
	}
	return best
}

// bisectCount looks for the fewest nodes at a fixed yield: by halves between the most nodes
// with which a search as long as this one failed and the fewest with which one did not,
// and if there is nothing in between, with one node less.
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

// expectedValue is what a course may come to: what it came to, or else its bound, less what other
// courses fell short of theirs, and less still for each run in vain.
func (s *search) expectedValue(c *run, efficiency float64) float64 {
	if c.found {
		return c.value
	}
	vain := 0.5 / float64(len(s.Nodes)) // about what one node more or less is worth
	short := math.Pow(1-vain, float64(c.attempts*c.attempts))
	switch s.Objective {
	case energy.BoundedYield:
		return c.bound / (efficiency * short)
	case energy.BoundedPower: // of the nodes not all can be used, of the budget nearly all
		return min(c.bound, efficiency*s.maxYield(c.count)) * short
	default:
		return c.bound * efficiency * short
	}
}

// efficiency is how near to their bounds the courses came that have a value; at most 1.
// Under a budget it is how near they came to what their nodes can give.
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
