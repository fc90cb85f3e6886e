package decide

import (
	"errors"
	"maps"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
)

// Decision is what is wanted of each vjob of a picture, and how to get there.
type Decision struct {
	// Verdicts are those on the vjobs of the picture, in its order; nil: there are none.
	Verdicts []queue.Verdict
	Plan     ctxswitch.Plan
	Why      string   // why there is no plan; "" if there is one, or none is needed
	Breaches []string // of rules, as things stand
	// Shapes are those in which the plan starts moldable vjobs.
	Shapes map[cluster.VJobID]int
	// Caps are the shares of CPU of the members of vjobs that run, or are about to. Where
	// nothing is rationed there are none, and those of before are lifted.
	Caps      map[cluster.VJobID][]cluster.MilliCPU
	SharesCPU bool
	// Suspects are those that were left out, because a decision with them fails.
	Suspects []Suspect

	fault error // that is no verdict; nil: the decision is sound
	// unpowered are those for which there is no power where the plan would put them, and why.
	unpowered map[cluster.VJobID]string
}

// decide takes a decision. It may fail, and it may panic. Those that turn out to have no power
// are left out from the beginning then: others may have what they would have taken.
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

// choose takes a decision on the picture as it is.
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

// attempt looks for a plan by the verdicts. It reports whether to try again, with other
// wishes.
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

// needsNoRepair reports whether the configuration needs no repair, rules aside: it is
// viable, and nothing has to leave a draining node.
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

// problem states the goals for the planner.
func (p *View) problem(goals []ctxswitch.Goal) ctxswitch.Problem {
	return ctxswitch.Problem{
		Current: p.current, Rules: p.rules, Avoid: p.avoid, Gangs: goals, Claims: p.claims, Pinned: p.pinned,
		Unsavable: p.unsavable, Live: p.live, Costs: p.settings.Execute.Costs, Network: p.settings.Network, Feeds: p.feeds(p.Limits), Seed: p.settings.Seed,
	}
}
