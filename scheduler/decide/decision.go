package decide

import (
	"errors"
	"maps"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
)

// Decision holds the target of each vjob of a view and the plan that leads there.
type Decision struct {
	// Verdicts are in the order of the vjobs of the view; nil if no decision was taken.
	Verdicts []queue.Verdict
	Plan     ctxswitch.Plan
	Why      string   // why there is no plan; "" if there is one, or none is needed
	Breaches []string // of rules, before the plan
	// Shapes are the shapes in which the plan starts moldable vjobs.
	Shapes map[cluster.VJobID]int
	// Caps are the CPU shares of the VMs of vjobs that run or are about to. Without SharesCPU
	// the map is empty, and earlier caps are lifted.
	Caps      map[cluster.VJobID][]cluster.MilliCPU
	SharesCPU bool
	// Suspects were left out because a decision with them fails.
	Suspects []Suspect

	fault error // makes the decision invalid; nil if it is sound
	// unpowered holds the vjobs that lack power where the plan would place them, and why.
	unpowered map[cluster.VJobID]string
}

// decide takes a decision. It may fail or panic. vjobs that turn out to lack power become
// ineligible, and it decides again, so that others get what they would have taken.
func (p *View) decide() (d Decision) {
	for try := 1; p.limited() && try < maxPasses; try++ {
		before := p.copy()
		if d = p.choose(); len(d.unpowered) == 0 {
			return d
		}
		*p = *before
		maps.Copy(p.ineligible, d.unpowered)
	}
	return p.choose()
}

// choose takes a decision on the view as it is.
func (p *View) choose() (d Decision) {
	wished, fault := p.chooseTargets()
	p.evacuate(wished)
	p.addStarters(wished)
	d.fault, d.Verdicts = fault, p.placeSuspended(wished)
	p.prepareReservations(d.Verdicts)
	for s := newRetryFilter(p, wished); p.attempt(&d, s); {
		d.Verdicts = p.placeSuspended(wished)
	}
	d.SharesCPU, d.Shapes = p.sharesCPU(), p.startShapes(&d.Plan)
	d.Caps = p.cpuCaps(d.Verdicts, d.Plan.Target)
	d.Plan = p.delayForPower(d.Plan, d.Caps)
	p.causes(&d)
	return d
}

// attempt makes a plan for the verdicts. It reports whether to try again because the wishes
// have changed.
func (p *View) attempt(d *Decision, s *retryFilter) (again bool) {
	goals, change := p.goals(d.Verdicts)
	problem := p.problem(goals)
	d.Breaches, d.Why = ctxswitch.Breaches(problem), ""
	if !change && len(d.Breaches) == 0 && needsNoRepair(problem) && len(p.prepared) == 0 && !p.alwaysPlan {
		return s.restore()
	}
	plan, err := p.plan(goals)
	var no *ctxswitch.NoPlan
	switch {
	case err == nil && p.exceedsImageSpace(d.Verdicts, plan):
		return true
	case err == nil && (p.overdrawn(d, s.wished, plan.Target) || p.breaksReservation(s, plan.Target) || s.restore()):
		return true
	case err == nil:
		d.Plan = plan
		return false
	case !errors.As(err, &no):
		d.Why, d.fault = err.Error(), err
		return false
	}
	if plan, cleared := p.planWithPausedSaved(d.Verdicts, no); cleared {
		d.Plan = plan
		return false
	}
	d.Why = err.Error()
	return s.dropStarters(no)
}

// needsNoRepair reports whether the configuration, rules aside, is viable and no VM has to
// leave a draining node.
func needsNoRepair(p ctxswitch.Problem) bool {
	if !p.Current.Viable() {
		return false
	}
	for _, n := range p.Current.Nodes() {
		if n.State != cluster.Draining {
			continue
		}
		for _, vm := range p.Current.On(n.ID) {
			if !p.Pinned[vm] {
				return false
			}
		}
	}
	return true
}

// problem builds the planning problem for the goals.
func (p *View) problem(goals []ctxswitch.Goal) ctxswitch.Problem {
	return ctxswitch.Problem{
		Current: p.current, Rules: p.rules, Avoid: p.avoid, Gangs: goals, Claims: p.claims, Pinned: p.pinned,
		Unsavable: p.unsavable, Live: p.live, Costs: p.settings.Execute.Costs, Network: p.settings.Network, Feeds: p.feeds(p.Limits), Seed: p.settings.Seed,
	}
}
