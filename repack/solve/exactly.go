package solve

import (
	"vjob/repack"
	"vjob/repack/internal/exact"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
	"vjob/repack/internal/schedule"
)

// stepsPerRound is how many steps of an exact search are worth a round of improvement.
const stepsPerRound = 32

// exactSteps bounds the exact search by the effort that is asked for.
func (p *portfolio) exactSteps() int {
	if p.Iterations > 0 && p.Iterations < DefaultIterations {
		return stepsPerRound * p.Iterations
	}
	return exact.Steps
}

// solveExactly looks for the best plan of a small problem, once: it finds a better plan, proves that the
// best so far is the best of all, or proves that the problem is infeasible. It does nothing for other
// problems, or if there are too many states.
func (p *portfolio) solveExactly() {
	if p.exact || p.infeasible || !exact.Small(p.searches[0].Problem) {
		return
	}
	p.exact = true
	limit := int64(problem.Never)
	if p.best != nil {
		limit = p.best.score.first
	}
	s := placement.New(problem.New(p.in, p.Objective))
	s.Abort = p.Abort
	r := exact.Search(s, limit, p.exactSteps())
	if r.Actions != nil {
		c := schedule.Of(s.Problem, r.Actions)
		c.Place(s)
		p.best = &found{c, scoreOf(s, c)}
		if p.Found != nil {
			p.Found(repack.Figures{Objective: c.Cost, Makespan: c.Last}, p.bound)
		}
	}
	switch {
	case r.Done && p.best == nil:
		p.infeasible = true
	case r.Done:
		p.bound = p.best.score.first
	}
}
