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
// problems, or if there are too many states. Where gangs, a network or nodes that are over their capacity
// restrict the plans further, the best plan without that may only give a bound.
func (p *portfolio) solveExactly() {
	if p.exact || p.infeasible || !exact.Small(p.searches[0].Problem) {
		return
	}
	p.exact = true
	limit := int64(problem.Never)
	if p.best != nil {
		limit = p.best.score.first
	}
	r := exact.Search(p.relaxed(), limit, p.exactSteps())
	taken := r.Actions != nil && p.takeExact(r.Actions)
	if len(p.in.Overloaded()) > 0 {
		if taken {
			limit = p.best.score.first
		}
		r = exact.Bound(p.relaxed(), limit, p.exactSteps())
	}
	switch {
	case !r.Done:
	case r.Actions != nil:
		p.bound = max(p.bound, r.Cost)
	case p.best == nil:
		p.infeasible = true
	default:
		p.bound = limit
	}
	if taken && p.Found != nil {
		p.Found(repack.Figures{Objective: p.best.Cost, Makespan: p.best.Last}, p.bound)
	}
}

// relaxed returns a placement without VMs, and without gangs and network.
func (p *portfolio) relaxed() *placement.State {
	s := placement.New(problem.New(exact.Relaxed(p.in), p.Objective))
	s.Abort = p.Abort
	return s
}

// takeExact takes the plan of an exact search, if it is one of the instance and not only of the relaxed one. No more
// members of gangs are suspended than by the best plan so far: to save time is no reason for a gang to stand still.
func (p *portfolio) takeExact(actions []repack.Action) bool {
	actions, ok := exact.Whole(p.in, actions)
	if !ok {
		return false
	}
	s := placement.New(problem.New(p.in, p.Objective))
	c := schedule.Of(s.Problem, actions)
	if report, err := repack.Check(p.in, c.Plan()); err != nil || !report.Valid() {
		return false
	}
	c.Place(s)
	f := &found{c, scoreOf(s, c)}
	if p.best != nil && (!f.score.less(p.best.score) || len(p.in.Gangs) > 0 && suspensions(actions) > suspensions(p.best.Plan().Actions)) {
		return false
	}
	p.best = f
	return true
}

// suspensions counts the VMs that a plan suspends.
func suspensions(actions []repack.Action) (n int) {
	for i := range actions {
		if actions[i].Kind == repack.Suspend {
			n++
		}
	}
	return n
}
