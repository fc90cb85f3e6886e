package solve

import (
	"fmt"
	"strings"

	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
	"vjob/repack/internal/schedule"
)

// giveUp explains why no plan was found. It explores small problems exhaustively, which may
// still find a plan; for others it says what was in the way, and which single change would
// make a plan possible.
func (p *portfolio) giveUp() *Result {
	r := &Result{Verdict: Exhausted, Bound: p.bound, Rounds: p.rounds}
	if p.stopped {
		r.Verdict = OutOfTime
	}
	s := p.searches[0]
	obstacle := s.obstacle()
	p.searchExhaustively(schedule.MaxStates)
	p.solveExactly()
	if p.best != nil {
		return p.result()
	}
	if p.infeasible {
		r.Verdict = Impossible
	}
	r.Why = obstacle
	if p.Explain {
		r.Why = append(r.Why, p.helpfulChanges()...)
	}
	return r
}

// searchExhaustively explores a small problem: it finds a plan, or proves that there is no
// plan. It does nothing for other problems, or if there are too many states.
func (p *portfolio) searchExhaustively(scenes int) {
	if p.infeasible || !schedule.Small(p.searches[0].Problem) {
		return
	}
	fresh := placement.New(problem.New(p.in, p.Objective))
	c, infeasible := schedule.Exhaustive(fresh, scenes)
	p.infeasible = infeasible
	if c != nil {
		p.best = &found{c, scoreOf(fresh, c)}
	}
}

// obstacle returns what the search could not get past: VMs without a place, broken rules, or
// actions that wait for each other.
func (s *search) obstacle() (why []string) {
	if s.Unplaced > 0 {
		for _, vm := range s.unplacedVMs() {
			if len(why) == problem.MaxReasons {
				return append(why, fmt.Sprintf("and %d more VMs have no place", s.Unplaced-problem.MaxReasons))
			}
			why = append(why, s.unplacedReason(vm))
		}
		return why
	}
	for i := range s.BreachesOf {
		if s.BreachesOf[i] > 0 && s.Guards[i].Penalty == 0 && len(why) < problem.MaxReasons {
			why = append(why, fmt.Sprintf("%s stays broken, %d times", s.Guards[i].Rule, s.BreachesOf[i]))
		}
	}
	if len(why) > 0 {
		return why
	}
	if why = schedule.Stuck(s.State); len(why) > 0 {
		return why
	}
	return []string{"every plan found breaks a time by which an action is due"}
}

// unplacedReason says what a VM without a place lacks on the closest node.
func (s *search) unplacedReason(vm int) string {
	text := fmt.Sprintf("%s (%s) has no place", s.In.VMName(vm), s.DemandText(vm))
	for _, n := range s.closestNodes(vm) {
		if lacks := s.shortageOn(vm, n); lacks != "" {
			return fmt.Sprintf("%s: %s comes closest and lacks %s", text, s.In.NodeName(n), lacks)
		}
	}
	return text + ": a rule is against every node that is left"
}

// shortageOn returns what a node lacks for a VM; nothing if a rule forbids it.
func (s *search) shortageOn(vm, n int) string {
	if b, _ := s.Delta(vm, repack.Nowhere, n); b > 0 {
		return ""
	}
	var list []string
	for d := range s.Dims {
		if lack := s.EndLoad[n*s.Dims+d] + s.Next[vm*s.Dims+d] - s.Room[n*s.Dims+d]; lack > 0 {
			list = append(list, fmt.Sprintf("%d %s", lack, s.In.Dims[d]))
		}
	}
	return strings.Join(list, " and ")
}

// maxChanges bounds the changes that are tried.
const maxChanges = 64

// helpfulChanges returns single changes after which a plan is found quickly: without one of
// the hard rules, or with more nodes.
func (p *portfolio) helpfulChanges() (why []string) {
	tried := 0
	for i, r := range p.in.Rules {
		if r.Penalty > 0 || tried == maxChanges || len(why) == problem.MaxReasons {
			continue
		}
		tried++
		in := *p.in
		in.Rules = append(append([]repack.Posted{}, p.in.Rules[:i]...), p.in.Rules[i+1:]...)
		if cost, ok := p.quickSolve(&in); ok {
			why = append(why, fmt.Sprintf("without %s there is a plan (objective %d)", r.Rule, cost))
		}
	}
	if len(why) > 0 || len(p.in.Nodes) == 0 {
		return why
	}
	for more := 1; more <= 4; more *= 2 {
		in := *p.in
		in.Nodes = append([]repack.Node{}, p.in.Nodes...)
		for range more {
			in.Nodes = append(in.Nodes, p.largest())
		}
		if cost, ok := p.quickSolve(&in); ok {
			return []string{fmt.Sprintf("with %d more nodes as large as the largest there is a plan (objective %d)", more, cost)}
		}
	}
	return nil
}

// quickSolve reports whether a plan is found in a few rounds.
func (p *portfolio) quickSolve(in *repack.Instance) (cost int64, ok bool) {
	q := newPortfolio(in, Options{Objective: p.Objective, Seed: p.Seed, Iterations: roundsPerMeeting / 8}, nil)
	q.search()
	if q.best == nil {
		return 0, false
	}
	return q.best.score.first, true
}

// largest returns an empty node like the largest.
func (p *portfolio) largest() repack.Node {
	best, most := 0, int64(-1)
	for n := range p.in.Nodes {
		var sum int64
		for _, c := range p.in.Nodes[n].Capacity {
			sum += c
		}
		if sum > most {
			best, most = n, sum
		}
	}
	return repack.Node{Name: "new", Capacity: p.in.Nodes[best].Capacity, State: repack.Online, Want: repack.Online}
}
