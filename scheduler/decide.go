package scheduler

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
)

// decide takes one decision: the policy says which vjobs should run, the planner
// says how to get there, and the executor begins to.
func (c *Core) decide() {
	c.settleKin()
	c.respite, c.judged = c.settings.Rest, true
	c.decided, c.decidedAt, c.retryAt = c.exec.Changes(), c.now, time.Time{}
	p := c.picture()
	c.desk.Decided(c.now)
	d, found, err := c.settings.decideWithout(p)
	c.judge(p, found)
	if err != nil {
		c.despair(err)
	} else {
		c.missed = exile{}
	}
	if d.verdicts == nil {
		return // those of the last decision are as good as any
	}
	c.reshape(p, &d.plan)
	c.ration(p, d.caps)
	c.adopt(d.plan)
	c.breaches = slices.Concat(p.unread, d.breaches)
	c.remember(p, d.verdicts)
	c.tellLate(p, d.verdicts)
	for _, v := range d.verdicts {
		if !v.Again.IsZero() {
			c.retry(v.Again)
		}
	}
}

// decision is what is wanted of each vjob of a picture, and how to get there.
type decision struct {
	verdicts []queue.Verdict
	plan     ctxswitch.Plan
	why      string                                // why there is no plan; "" if there is one, or none is needed
	breaches []string                              // of rules, as things stand
	caps     map[cluster.VJobID][]cluster.MilliCPU // of their members; see [Settings.allot]
	fault    error                                 // an error that is no verdict; nil: the decision is sound
}

// decide is the decision on a picture. It changes nothing.
func (s *Settings) decide(p *picture) (d decision) {
	wished, fault := s.consultWithin(p)
	p.admit(wished)
	d.fault, d.verdicts = fault, s.stand(p, wished)
	for range maxRefusals {
		goals, change := p.goals(d.verdicts)
		problem := p.problem(s, goals)
		d.breaches, d.why = ctxswitch.Breaches(problem), ""
		if !change && len(d.breaches) == 0 && settled(problem) && !p.thorough {
			break
		}
		plan, err := s.Planner.Plan(problem)
		if err == nil && s.overdrawn(p, wished, plan.Target) {
			d.verdicts = s.stand(p, wished)
			continue
		}
		if err == nil {
			d.plan = plan
			break
		}
		d.why = err.Error()
		no, ok := asNoPlan(err)
		if !ok {
			d.fault = err
			break
		}
		if d.plan, ok = s.clearing(p, d.verdicts, no); ok {
			d.why = ""
			break
		}
		if !giveUp(p, wished, no) {
			break
		}
		d.verdicts = s.stand(p, wished)
	}
	d.caps = s.allot(p, d.verdicts, d.plan.Target)
	return d
}

// maxRefusals bounds how many vjobs one decision leaves out because the planner
// finds no place for them although the policy thought there was one.
const maxRefusals = 16

// adopt writes a plan down and begins it.
func (c *Core) adopt(plan ctxswitch.Plan) {
	if plan.Empty() {
		return
	}
	c.exec.Adopt(c.now, c.nextPlan, c.settings.Policy.Name(), plan)
	c.nextPlan++
	c.decided = c.exec.Changes()
}

// retry asks for a decision at an instant.
func (c *Core) retry(at time.Time) {
	if c.retryAt.IsZero() || at.Before(c.retryAt) {
		c.retryAt = at
	}
}

// settled reports whether the configuration needs no repair, rules aside: it is
// viable, and nothing has to leave a draining node.
func settled(p ctxswitch.Problem) bool {
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

func (p *picture) problem(s *Settings, goals []ctxswitch.Goal) ctxswitch.Problem {
	return ctxswitch.Problem{
		Current: p.current, Rules: p.rules, Avoid: p.avoid, Gangs: goals, Claims: p.claims, Pinned: p.pinned,
		Live: p.live, Costs: s.Execute.Costs, Network: s.Network, Seed: p.seed,
	}
}

// giveUp takes the wish back for a vjob that the planner cannot place: one that
// was to start stays ready; if it stands still in memory, it is saved, to be resumed
// elsewhere. It reports false when there is nothing to take back.
func giveUp(p *picture, verdicts []queue.Verdict, no *ctxswitch.NoPlan) bool {
	last := -1
	for i, r := range p.reports {
		starts := r.Idle && !r.Blind && r.Job.State.Ready() && verdicts[i].Wish == queue.Run
		if !starts {
			continue
		}
		last = i
		if r.Job.ID == no.VJob {
			break
		}
	}
	if last < 0 {
		return false
	}
	verdicts[last] = queue.Verdict{Wish: queue.Stay, Reason: "waits: " + no.Reason}
	if p.reports[last].Job.State == cluster.Paused {
		verdicts[last].Wish = queue.Park
	}
	return true
}

// remember keeps the verdicts for those who ask why.
func (c *Core) remember(p *picture, verdicts []queue.Verdict) {
	clear(c.verdicts)
	c.queueing = c.queueing[:0]
	for i, r := range p.reports {
		c.verdicts[r.Job.ID] = verdicts[i]
		if r.Job.State.Ready() && verdicts[i].Wish == queue.Stay && !r.Job.Held && !r.Job.Reservation.After(c.now) {
			c.queueing = append(c.queueing, r.Job.ID)
		}
	}
}
