package solve

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
	"vjob/repack/internal/proof"
	"vjob/repack/internal/schedule"
)

// portfolio runs searches side by side, each with its own problem and random numbers. They
// meet after a fixed number of rounds, so the result depends on the seed and not on timing.
type portfolio struct {
	Options
	in         *repack.Instance
	searches   []*search
	bound      int64
	best       *found
	rounds     int
	idle       int // rounds since the last better plan
	stopped    bool
	infeasible bool          // proved
	split      bool          // its components have been solved
	untangled  *found        // the best plan when its knots were looked at
	exact      bool          // an exact search has been made, or is not wanted
	prices     *proof.Prices // raise the bound of a full cluster; nil before the first meeting
}

// roundsPerMeeting is how many rounds a search runs before the next meeting.
const roundsPerMeeting = 256

// newPortfolio prepares the searches. The first uses the given problem, if it is not nil.
func newPortfolio(in *repack.Instance, o Options, m *problem.Problem) *portfolio {
	p := &portfolio{Options: o, in: in}
	if p.Stop == nil {
		p.Stop = func() bool { return false }
		if p.Iterations == 0 {
			p.Iterations = DefaultIterations
		}
	}
	for i := range max(1, o.Workers) {
		if i > 0 || m == nil {
			m = problem.New(in, o.Objective)
		}
		m.Abort = o.Abort
		b := proof.NewBounds(m)
		s := &search{State: placement.New(m), bounds: b, rng: rand.New(rand.NewPCG(o.Seed, uint64(i))), fixed: b.Departures(), found: func(int64) {}}
		s.patterns = sync.OnceValue(func() *proof.Patterns { return proof.NewPatterns(b) })
		s.full = newFullness(s, p.effort())
		p.searches = append(p.searches, s)
	}
	return p
}

// effort is how many rounds are asked for.
func (p *portfolio) effort() int {
	if p.Iterations == 0 {
		return math.MaxInt
	}
	return p.Iterations
}

// raise raises the lower bound of the objective.
func (p *portfolio) raise(bound int64) {
	p.bound = max(p.bound, bound)
	for _, s := range p.searches {
		s.bound = p.bound
	}
}

// search makes the first search find a plan, and then all of them a better one. The first lower bound is found beside
// the first placement: they read the same problem.
func (p *portfolio) search() {
	first, bound := p.searches[0], make(chan int64, 1)
	go func() { bound <- first.bounds.Value() }()
	first.repair()
	p.raise(<-bound)
	first.schedulePlacement()
	p.takeBest(p.searches[:1])
	p.usePatterns()
	if p.best == nil && !first.Aborted() && first.startFromAdmission() {
		first.schedulePlacement()
		p.takeBest(p.searches[:1])
	}
	if p.stopped = p.best == nil && first.Aborted(); p.stopped {
		return
	}
	if p.best == nil && first.fillNodes() {
		first.schedulePlacement()
		p.takeBest(p.searches[:1])
	}
	if p.best == nil {
		p.searchExhaustively(schedule.FewStates)
	}
	p.improve()
}

// improve runs all searches until they are done.
func (p *portfolio) improve() {
	for p.Iterations >= 0 && !p.done() {
		n := roundsPerMeeting
		if p.Iterations > 0 {
			n = min(n, p.Iterations-p.rounds)
		}
		if p.Despair > 0 && p.best == nil {
			n = min(n, p.Despair-p.rounds)
		}
		if p.Patience > 0 {
			n = min(n, p.Patience)
		}
		before := p.best
		p.parallel(func(s *search) { s.run(n, p.Stop) })
		p.rounds += n
		p.takeBest(p.searches)
		p.raiseBound()
		p.solveExactly()
		p.solveComponents()
		p.untangle()
		if p.idle += n; p.best != before {
			p.idle = 0
		}
	}
	if p.Iterations >= 0 && !p.stopped && p.best != nil && p.best.score.first > p.bound {
		p.solveExactly() // the search knows nothing to improve
		p.untangle()
	}
}

// done reports whether nothing is left to search, or the time is up.
func (p *portfolio) done() bool {
	p.stopped = p.stopped || p.Stop()
	return p.stopped || p.infeasible || p.best != nil && p.Patience > 0 && p.idle >= p.Patience || p.Iterations > 0 && p.rounds >= p.Iterations ||
		p.best == nil && p.Despair > 0 && p.rounds >= p.Despair || p.best != nil && p.best.score.first <= p.bound ||
		!slices.ContainsFunc(p.searches, func(s *search) bool { return len(s.improvable()) > 0 })
}

// parallel runs a function for all searches and waits for them.
func (p *portfolio) parallel(do func(s *search)) {
	var group sync.WaitGroup
	for i, s := range p.searches {
		group.Go(func() {
			if s.notBegun() {
				s.begin(i)
			}
			do(s)
		})
	}
	group.Wait()
}

// notBegun reports whether no VM has a place.
func (s *search) notBegun() bool { return s.Unplaced == len(s.Wanted) && len(s.Wanted) > 0 }

// begin finds a first placement, a different one for each search.
func (s *search) begin(i int) {
	if i > 0 {
		s.Noise = s.rng
	}
	s.repair()
	s.Noise = nil
	s.fillNodes()
}

// takeBest takes the best plan of the searches.
func (p *portfolio) takeBest(searches []*search) {
	for _, s := range searches {
		if s.best == nil || p.best != nil && !s.best.score.less(p.best.score) {
			continue
		}
		p.best = s.best
		if p.Found != nil {
			p.Found(repack.Figures{Objective: p.best.Cost, Makespan: p.best.Last}, p.bound)
		}
	}
}

// result returns the best plan.
func (p *portfolio) result() *Result {
	r := &Result{
		Verdict: Solved, Plan: p.best.Plan(), Bound: p.bound, Rounds: p.rounds,
		Proved: p.best.score.first <= p.bound,
	}
	r.Figures, _ = repack.Measure(p.in, r.Plan)
	return r
}
