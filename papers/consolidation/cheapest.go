package consolidation

import (
	"math/rand/v2"
	"slices"
)

// Cheapest looks for a packing on at most so many nodes that costs the least (VMRP,
// thesis eq. 8.2, with the cost of each item by itself). It starts from the packings
// given, such as that of [Fewest], and from those of [FirstFit], and is never worse
// than any of them that keeps to the number of nodes.
func Cheapest(p *Problem, used int, b SearchOptions, from ...[]int) Replacement {
	m, ok := newModel(p, true)
	if !ok || used < m.forced {
		return Replacement{Proved: true}
	}
	s := &cheapest{model: m, most: used, steps: newStepBudget(b), rng: rand.New(rand.NewPCG(b.Seed, 3))}
	s.Bound = s.base - s.gcd*s.keepable(used-s.forced)
	for d := range m.dims {
		from = append(from, FirstFit(p, d))
	}
	for _, at := range from {
		s.offer(at)
	}
	if len(m.kinds)+len(m.homeClasses) > fewRows {
		s.stay()
	}
	s.search()
	return s.Replacement
}

// fewRows is the size of a program up to which it is solved at once.
const fewRows = 150

// cheapest is a search in progress.
type cheapest struct {
	Replacement
	*model
	most  int
	steps *stepBudget
	rng   *rand.Rand
}

func (s *cheapest) done() bool { return s.Proved || s.steps.left <= 0 }

func (s *cheapest) raise(bound int64) {
	s.Bound = max(s.Bound, bound)
	s.Proved = s.At != nil && s.Bound >= s.Cost
}

// total is what a packing costs.
func (m *model) total(at []int) (sum int64) {
	if m.Cost == nil {
		return 0
	}
	for i, n := range at {
		sum += m.Cost(i, n)
	}
	return sum
}

// settle notes a packing if it is better than the one that there is.
func (s *cheapest) settle(at []int) {
	used, cost := s.usedBy(at), s.total(at)
	if used > s.most || s.At != nil && cost >= s.Cost {
		return
	}
	s.At, s.Used, s.Cost = slices.Clone(at), used, cost
	s.raise(s.Bound)
}

// offer notes a packing, if it is one, and what becomes of it by small changes.
func (s *cheapest) offer(at []int) {
	if at == nil || slices.Contains(at, Nowhere) || s.usedBy(at) > s.most {
		return
	}
	p, ok := s.load(at)
	if !ok {
		return
	}
	s.settle(at)
	if t := (improver{assignment: p, most: s.most, steps: s.steps}); s.Cost > 0 {
		t.polish()
		s.settle(p.at)
	}
	p.leave()
}

// search closes the gap, in rounds that take twice as long each: by small changes, by
// the program and its roundings, by trying all.
func (s *cheapest) search() {
	if s.At == nil && !s.done() {
		s.offer(s.any())
	}
	if s.done() {
		return
	}
	var root *relaxation
	r := s.all()
	r.open = s.most - s.forced
	if len(s.kinds)+len(s.homeClasses) <= manyRows {
		root = s.relax(r, true, s.patterns(s.At), s.steps, s.rng)
	}
	for round := 0; !s.done(); round++ {
		before, steps := s.steps.left, int64(4_000_000)<<min(round, 30)
		if root != nil {
			s.solveLP(root, steps)
		}
		if root != nil && !s.done() {
			s.branch(root, r, 400<<min(2*round, 20))
		}
		if s.At != nil && !s.done() {
			part, giveBack := s.steps.share(steps)
			s.rebuild(part)
			giveBack()
		}
		if s.steps.left == before {
			return // nothing left to try
		}
	}
}

// solveLP raises the bound by the program, and rounds it.
func (s *cheapest) solveLP(root *relaxation, steps int64) {
	root.solveWithin(s.target(), steps)
	if reached := root.reached(); reached > 0 {
		s.Proved = s.At == nil // not even with everything away from home
		return
	} else if reached != unbounded {
		s.raise(s.base + s.gcd*reached)
	}
	if s.done() {
		return
	}
	part, giveBack := s.steps.share(steps)
	for range 3 {
		if part.left <= 0 || s.Proved {
			break
		}
		if chosen, ok := s.dive(root, s.target(), part, s.rng); ok {
			s.offer(s.realize(chosen))
		}
	}
	giveBack()
}

// any is a packing on few enough nodes, if one is found.
func (s *cheapest) any() []int {
	part, giveBack := s.steps.share(s.steps.left / 2)
	defer giveBack()
	f := &fewest{model: s.model, steps: part, rng: s.rng, Answer: Answer{Used: s.nodes + 1}}
	f.raise(s.most)
	f.construct()
	f.search()
	return f.At
}

// target is the gain that a better packing has, less than none, in coins.
func (s *cheapest) target() int64 {
	if s.At == nil {
		return 0
	}
	return downwards(s.Cost-1-s.base, s.gcd)
}

func downwards(a, b int64) int64 { return -upwards(-a, b) }

// branch tries all ways to use at most so many columns, if these are all that a
// cheaper packing can have.
func (s *cheapest) branch(root *relaxation, r *remainder, most int) {
	patterns, ok := root.enumerate(s.target(), most)
	if !ok {
		return
	}
	b := &branching{
		model: s.model, root: r, replace: true, patterns: patterns, rng: s.rng,
		scale: root.scale, most: root.most, target: s.target(),
	}
	part, giveBack := s.steps.share(int64(most) * 40_000)
	b.steps = part
	all := b.search(nil)
	giveBack()
	if b.best != nil {
		s.offer(s.realize(b.best))
	}
	if all {
		s.raise(s.base + s.gcd*(b.target+1))
	}
}
