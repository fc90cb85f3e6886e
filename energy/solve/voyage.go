package solve

import (
	"cmp"
	"math"
	"slices"

	"vjob/energy"
)

// promising reports whether a course can still lead to something better.
func (s *search) promising(c *course) bool {
	return s.best == nil || s.Objective.Gap(s.value, c.bound) > 1e-9
}

// firstProof is a quarter of the branches that the first attempt at a proof may look at.
const firstProof int64 = 50_000

// voyage follows courses in rounds, each twice as long as the one before, until the time
// is up or no course is promising. True: the best is proved.
func (s *search) voyage() bool {
	if len(s.courses) == 0 {
		return true // even with divisible jobs no number of nodes will do
	}
	proof := s.small()
	for round := 0; !s.stopped; round++ {
		steps := max(1, s.none<<min(round, 20)/8)
		if s.best == nil {
			s.seek(steps)
			s.extend()
		} else if !s.improve(round, steps) {
			return s.complete
		}
		if proof && round >= 2 && s.prove(firstProof<<min(round, 30)) {
			return true
		}
	}
	return false
}

// improve follows the courses of a round; false: none is promising any more.
func (s *search) improve(round, steps int) bool {
	if s.Objective == energy.BoundedYield {
		s.descend(steps)
	}
	list, before := s.agenda(round), s.left
	for _, c := range list {
		if s.promising(c) {
			s.sail(c, steps)
		}
	}
	if !s.whole.Alike() && len(list) > 0 {
		s.explore(max(16, steps/2), 3*(before-s.left))
	}
	return len(list) > 0
}

// manyJobs are so many that only few courses can be followed.
const manyJobs = 600

// seek looks for any allocation: one made in one go with all nodes will often do; else on
// the course that promises most, then with more and more nodes, then with fewer.
func (s *search) seek(steps int) {
	for _, c := range s.courses {
		if c.count == len(s.Nodes) && c.at == nil {
			s.sail(c, 0)
		}
	}
	if s.best != nil {
		return
	}
	tried := map[*course]bool{}
	try := func(i int) bool {
		i = min(max(i, 0), len(s.courses)-1)
		if c := s.courses[i]; !tried[c] {
			tried[c] = true
			s.sail(c, steps)
		}
		return s.best != nil || s.stopped
	}
	start := 0
	for i, c := range s.courses {
		if s.Objective.Better(c.bound, s.courses[start].bound) {
			start = i
		}
	}
	for _, way := range []int{1, -1} {
		for far := 0; far < 2*len(s.courses); far = 2*far + 1 {
			if try(start + way*far) {
				return
			}
		}
	}
}

// agenda are the courses of a round: at first a look at many, then those that have most
// to promise.
func (s *search) agenda(round int) []*course {
	s.extend()
	var list []*course
	for _, c := range s.courses {
		if s.promising(c) {
			list = append(list, c)
		}
	}
	efficiency := s.efficiency()
	slices.SortStableFunc(list, func(a, b *course) int {
		if s.Objective == energy.BoundedYield {
			return cmp.Compare(s.hope(a, efficiency), s.hope(b, efficiency))
		}
		return cmp.Compare(s.hope(b, efficiency), s.hope(a, efficiency))
	})
	others := !s.whole.Alike() || round%4 == 3 && s.none <= manyJobs
	if best := s.leader(); s.Objective == energy.BoundedYield && !others && slices.Contains(list, best) {
		return []*course{best} // those with fewer nodes have had their turn
	}
	most := max(2, 8>>round)
	if s.none > manyJobs {
		most = 2 // each takes its time
	}
	return list[:min(most, len(list))]
}

// leader is the course that has the best value, of equals the one with the fewest nodes.
func (s *search) leader() (best *course) {
	for _, c := range s.courses {
		if c.found && (best == nil || s.Objective.Better(c.value, best.value)) {
			best = c
		}
	}
	return best
}

// descend looks for the fewest nodes at a fixed yield: by halves between the most nodes
// with which a search as long as this one failed and the fewest with which one did not,
// and if there is nothing in between, with one node less.
func (s *search) descend(steps int) {
	for !s.stopped {
		best := s.leader()
		i := slices.Index(s.courses, best)
		low := i - 1
		for low >= 0 && s.courses[low].tried < steps {
			low--
		}
		next := (low + i) / 2
		if tight := i - 1; low < 0 && s.courses[max(tight, 0)].tried > 0 {
			next = tight
		}
		if next < 0 || next == low || next == i || !s.promising(s.courses[next]) {
			return
		}
		s.sail(s.courses[next], steps)
		if !s.courses[next].found && next == i-1 {
			return
		}
	}
}

// hope is what a course may come to: what it came to, or else its bound, less what other
// courses fell short of theirs, and less still for each run in vain.
func (s *search) hope(c *course, efficiency float64) float64 {
	if c.found {
		return c.value
	}
	vain := 0.5 / float64(len(s.Nodes)) // about what one node more or less is worth
	short := math.Pow(1-vain, float64(c.runs*c.runs))
	switch s.Objective {
	case energy.BoundedYield:
		return c.bound / (efficiency * short)
	case energy.BoundedPower: // of the nodes not all can be used, of the budget nearly all
		return min(c.bound, efficiency*s.top(c.count)) * short
	default:
		return c.bound * efficiency * short
	}
}

// efficiency is how near to their bounds the courses came that have a value; at most 1.
// Under a budget it is how near they came to what their nodes can give.
func (s *search) efficiency() (best float64) {
	for _, c := range s.courses {
		limit := c.bound
		if s.Objective == energy.BoundedPower {
			limit = s.top(c.count)
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
