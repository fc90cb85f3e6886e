package consolidation

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// Fewest looks for a packing on the fewest nodes (VMPP, thesis eq. 7.2).
func Fewest(p *Problem, b SearchOptions) Answer {
	m, ok := newModel(p, false)
	if !ok {
		return Answer{Proved: true}
	}
	s := &fewest{model: m, steps: newStepBudget(b), rng: rand.New(rand.NewPCG(b.Seed, 2)), Answer: Answer{Used: m.nodes + 1}}
	s.raise(m.volume())
	s.construct()
	s.search()
	if s.At == nil {
		s.Used = 0
		s.Proved = s.Bound > m.nodes
	}
	return s.Answer
}

// fewest is a search in progress. Used is one more than there are nodes until a
// packing is found.
type fewest struct {
	Answer
	*model
	steps *stepBudget
	rng   *rand.Rand
}

func (s *fewest) done() bool {
	return s.Proved || s.steps.left <= 0
}

// raise notes a bound, and settle a packing, if they are better than those that there
// are.
func (s *fewest) raise(bound int) {
	s.Bound = max(s.Bound, min(bound, s.nodes+1))
	s.Proved = s.Bound >= s.Used || s.Bound > s.nodes
}

func (s *fewest) settle(at []int) {
	if at == nil {
		return
	}
	if used := s.usedBy(at); used < s.Used {
		s.At, s.Used = slices.Clone(at), used
		s.raise(s.Bound)
	}
}

// admit notes a packing made of patterns, if the veto admits it.
func (s *fewest) admit(chosen []pattern) {
	at := s.realize(chosen)
	if s.Veto != nil {
		p, ok := s.load(at)
		if !ok {
			return
		}
		p.leave()
	}
	s.settle(at)
}

// construct tries the simple ways.
func (s *fewest) construct() {
	if chosen, ok := s.finish(s.all(), int64(s.nodes), false); ok {
		s.admit(chosen)
	}
	nodes := s.byRoom()
	for _, order := range s.orders(s.rng) {
		for _, best := range []bool{true, false} {
			if s.done() || !s.steps.spend(int64(s.items*max(s.Used, 1))) {
				return
			}
			s.settle(s.fitAll(order, nodes, best))
		}
	}
}

// byRoom are the nodes in the order in which to open them: those first that are open
// in any case, then those with the most room.
func (s *fewest) byRoom() []int {
	nodes, room := make([]int, s.nodes), make([]float64, s.nodes)
	weight := s.all().weights(s.model)
	for n := range nodes {
		nodes[n] = n
		if s.busy[n] {
			room[n] = 1e18
		}
		for d := range s.dims {
			room[n] += weight[d] * float64(s.room[n*s.dims+d]) / float64(s.unit[d])
		}
	}
	slices.SortStableFunc(nodes, func(a, b int) int { return cmp.Compare(room[b], room[a]) })
	return nodes
}

// manyRows is the size of a program beyond which it takes too long.
const manyRows = 900

// search closes the gap, in rounds that take twice as long each: by the program and its
// roundings, by chance, by trying all.
func (s *fewest) search() {
	if s.done() {
		return
	}
	var root *relaxation
	if len(s.kinds)+len(s.homeClasses) <= manyRows {
		root = s.relax(s.all(), false, s.patterns(s.At), s.steps, s.rng)
	}
	for round := 0; !s.done(); round++ {
		before, steps := s.steps.left, int64(4_000_000)<<min(round, 30)
		if root != nil {
			s.solveLP(root, steps)
		}
		if !s.done() {
			part, giveBack := s.steps.share(steps)
			s.eject(part)
			giveBack()
		}
		if root != nil && !s.done() {
			s.branch(root, 400<<min(2*round, 20))
		}
		if s.steps.left == before {
			return // nothing left to try
		}
	}
}

// solveLP raises the bound by the program, and rounds it.
func (s *fewest) solveLP(root *relaxation, steps int64) {
	root.solveWithin(s.target(), steps)
	if root.bound != unbounded {
		s.raise(s.forced + int(root.reached()))
	}
	if s.done() {
		return
	}
	part, giveBack := s.steps.share(steps)
	for part.left > 0 && s.Bound < s.Used {
		before := part.left
		chosen, ok := s.dive(root, s.target(), part, s.rng)
		if ok {
			s.admit(chosen)
		}
		if part.left == before {
			break
		}
	}
	giveBack()
}

// target is what a better packing takes, beyond the nodes that are open in any case.
func (s *fewest) target() int64 { return int64(s.Used - s.forced - 1) }

// branch tries all ways to use at most so many columns, if these are all that a better
// packing can have.
func (s *fewest) branch(root *relaxation, most int) {
	patterns, ok := root.enumerate(s.target(), most)
	if !ok {
		return
	}
	b := &branching{
		model: s.model, root: s.all(), patterns: patterns, rng: s.rng,
		scale: root.scale, most: root.most, target: s.target(),
	}
	part, giveBack := s.steps.share(int64(most) * 40_000)
	b.steps = part
	all := b.search(nil)
	giveBack()
	if b.best != nil {
		s.admit(b.best)
	}
	if all {
		s.raise(s.forced + int(b.target) + 1)
	}
}
