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

// firstProof is how many branches the first attempt at a proof may look at, by four.
const firstProof int64 = 50_000

// voyage follows courses in rounds, each twice as long as the one before, until the time
// is up or no course is promising. True: the best is proved.
func (s *search) voyage() bool {
	proof := s.small()
	for round := 0; !s.stopped; round++ {
		steps := max(1, s.none<<min(round, 20)/8)
		if s.best == nil {
			s.seek(steps)
			continue
		}
		list := s.agenda(round)
		if len(list) == 0 {
			return true
		}
		for _, c := range list {
			if s.promising(c) {
				s.sail(c, steps)
			}
		}
		if proof && round >= 2 && s.prove(firstProof<<min(round, 30)) {
			return true
		}
	}
	return false
}

// seek looks for any allocation: on the course that promises most, then with more and
// more nodes, then with fewer.
func (s *search) seek(steps int) {
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
	return list[:min(max(2, 8>>round), len(list))]
}

// hope is what a course may come to: what it came to, or else its bound, less what other
// courses fell short of theirs, and less still for each run in vain.
func (s *search) hope(c *course, efficiency float64) float64 {
	if c.found {
		return c.value
	}
	const vain = 0.01
	short := efficiency * math.Pow(1-vain, float64(c.runs*c.runs))
	if s.Objective == energy.BoundedYield {
		return c.bound / short
	}
	return c.bound * short
}

// efficiency is how near to their bounds the courses came that have a value; at most 1.
func (s *search) efficiency() (best float64) {
	for _, c := range s.courses {
		if c.found && c.value > 0 && c.bound > 0 {
			best = max(best, min(c.value/c.bound, c.bound/c.value))
		}
	}
	if best == 0 {
		return 0.98
	}
	return best
}
