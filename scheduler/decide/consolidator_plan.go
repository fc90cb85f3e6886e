package decide

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/energy/consolidate"
)

// plan makes the plan, and rejects one that does more than migrate.
func (s *consolidator) plan(c *Consolidation) {
	plan, err := ctxswitch.Repacker{}.Plan(s.planProblem)
	switch {
	case err != nil:
		c.Why = err.Error()
	case plan.Empty():
		c.Why = "there is nothing to move"
	case len(plan.Dropped) > 0:
		c.Why = plan.Dropped[0].String()
	case len(plan.Leaves) > 0:
		c.Why = "rules would be broken: " + plan.Leaves[0]
	case slices.ContainsFunc(plan.Actions, func(a ctxswitch.Action) bool { return a.Kind != cluster.Migrate }):
		c.Why = "vjobs would have to be suspended on the way"
	}
	if c.Why != "" {
		return
	}
	c.Plan = plan
	s.share(c)
}

// share computes the CPU shares after the plan. It rejects the plan if a vjob would get less CPU,
// now or under future budgets, or if carrying it out draws too much.
func (s *consolidator) share(c *Consolidation) {
	c.Caps = s.cpuCaps(s.verdicts, c.Plan.Target)
	c.Yield = [2]float64{s.yield(s.caps), s.yield(c.Caps)}
	if _, refusals := newShareProblem(s.View, c.Plan.Target, s.verdicts, s.Limits.Now).Select(); len(refusals) > 0 {
		c.Why = "some would have to stop for the power budgets"
		return
	}
	for id, before := range s.caps {
		for rank, most := range c.Caps[id] {
			if most < before[rank]-before[rank]/50-1 {
				c.Why = fmt.Sprintf("vjob %s would get less CPU", id)
				return
			}
		}
	}
	for i, change := range s.Limits.Changes {
		if slices.ContainsFunc(s.Limits.Changes[:i], func(c LimitChange) bool { return slices.Equal(c.Limits, change.Limits) }) {
			continue
		}
		if more := s.stopsAt(c.Plan.Target, change); more != 0 {
			c.Why = fmt.Sprintf("vjob %s would have to stop for the power budgets from %s on", more, change.At.UTC().Format("2006-01-02 15:04 MST"))
			return
		}
	}
	if s.sharesCPU() && len(s.Limits.Now) > 0 {
		c.Plan, s.planProblem.Power = s.delayForPower(c.Plan, c.Caps), s.planPower(c.Caps)
	}
	if faults := ctxswitch.Check(s.planProblem, c.Plan); len(faults) > 0 {
		c.Why = faults[0]
	}
}

// yield returns the fraction of their reservations that all vjobs with caps may use together; 1
// without caps.
func (s *consolidator) yield(caps map[cluster.VJobID][]cluster.MilliCPU) float64 {
	given, reserved := cluster.MilliCPU(0), cluster.MilliCPU(0)
	for i := range s.VJobs {
		job := s.VJobs[i].Job
		for rank, most := range caps[job.ID] {
			given, reserved = given+most, reserved+job.VMs[rank].Reserved.CPU
		}
	}
	if reserved <= 0 {
		return 1
	}
	return min(1, float64(given)/float64(reserved))
}

// stopsAt returns a vjob that future budgets would stop only where a plan leads; 0 if none.
func (s *consolidator) stopsAt(target *cluster.Configuration, change LimitChange) cluster.VJobID {
	q := newShareProblem(s.View, target, s.runningVerdicts(), change.Limits)
	runs, _ := q.Select()
	for k, i := range q.jobs {
		if id := s.VJobs[i].Job.ID; !runs[k] && !slices.Contains(change.Stops, id) {
			return id
		}
	}
	return 0
}

// price compares what the plan saves with what it costs.
func (s *consolidator) price(c *Consolidation, a *consolidate.Result) {
	c.Saves, c.Costs = s.model.Saves(a, c.Plan.Makespan), s.model.Switching(a)
	uses := map[cluster.VJobID]cluster.MilliCPU{}
	for i, vm := range s.vms {
		uses[vm.VJob] += cluster.MilliCPU(s.model.VMs[i].Load)
	}
	for _, g := range c.Plan.Gangs {
		from, until, live := c.Plan.Makespan, time.Duration(0), true
		for _, id := range g.Actions {
			m := &c.Plan.Actions[id]
			c.Costs += s.copyEnergy(m.End - m.Start)
			from, until, live = min(from, m.Start), max(until, m.End), live && m.Live
		}
		if !live {
			c.Costs += s.pauseEnergy(uses[g.VJob], until-from)
		}
	}
	if float64(c.Saves) < s.Factor*float64(c.Costs) {
		c.Why = fmt.Sprintf("that is less than %g times what it costs", s.Factor)
	}
}
