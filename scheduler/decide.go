package scheduler

import (
	"fmt"
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/scheduler/decide"
	"vjob/scheduler/quarantine"
)

// decide takes a decision: the policy chooses which vjobs run, the planner makes a plan, and the
// executor begins it.
func (c *Core) decide() {
	c.out.Freed = append(c.out.Freed, c.dependencies.Settle(c.now, c.exec)...)
	c.next.decide(c.now, c.exec.Changes(), c.settings.Rest)
	c.recommendApprovals()
	facts := c.facts()
	if expired, cleared := expire(c.exec, c.now, facts.VJobs), clearInside(c.exec, c.now, facts.VJobs); expired || cleared {
		facts = c.facts()
	}
	v := decide.NewView(&c.settings.Settings, facts)
	c.next.retry(v.RecheckAt)
	c.order.Decided(c.now)
	d, err := v.Decide()
	alarms, again := c.quarantine.Update(&quarantine.Decision{Now: c.now, Quarantined: facts.Quarantined, Culprits: d.Culprits, Err: err}, c.exec)
	c.out.Events = append(c.out.Events, alarms...)
	c.next.retry(again)
	if d.Verdicts == nil {
		return // the last verdicts stay valid
	}
	if err == nil {
		c.refuseUnstarted(&d)
		c.improve(v, &d)
	}
	c.reshape(&d)
	c.power.cap.Adopt(&v.Limits)
	v.Entitle(&d)
	c.noteDivision(&d)
	c.applyTuning(&d)
	c.adopt(d.Plan)
	c.out.Events = c.last.note(c.now, v, &d, c.out.Events)
	for i := range d.Verdicts {
		c.next.retry(d.Verdicts[i].Again)
	}
}

// facts returns the inputs of a decision.
func (c *Core) facts() *decide.Facts {
	nodes := c.exec.Nodes()
	for i := range nodes {
		nodes[i].State = c.power.stateOf(&nodes[i])
	}
	vjobs := c.orderVJobs(c.exec.Jobs())
	learned := c.exec.Durations.Learned() // new estimates cost some time on large clusters, so snapshots share them
	if learned != nil {
		c.durations = learned
	}
	return &decide.Facts{
		Now: c.now, VJobs: vjobs, Nodes: nodes, Bookings: c.exec.VMs, Hardware: c.exec.Hardware(), TransfersAhead: c.exec.TransfersAhead(), Images: c.exec.Space(), NoImages: c.exec.StoreProblem(), Past: c.order.Ledger(),
		Rules: []string{c.settings.Rules, c.rules.Text}, Reader: c.reader, Budgets: c.power.cap.Books(), Prices: c.power.pricesStatus().Series,
		Least: c.power.controller.Draws(), Wanted: c.power.wanted(),
		Approvals: c.approvals(),
		Waits:     c.dependencies.Waiting(), Quarantined: c.quarantine.Active(c.now, vjobs),
		Learned: learned,
		Pools:   c.pools.wanted(nodes, vjobs), Demand: c.exec.VMs.Demand,
	}
}

// view returns what a decision would see now.
func (c *Core) view() *decide.View { return decide.NewView(&c.settings.Settings, c.facts()) }

// vary returns a variant of what a decision would see now.
func (c *Core) vary() *decide.Variant { return c.view().Vary() }

// reshape makes the shapes durable in which the plan starts moldable vjobs.
func (c *Core) reshape(d *decide.Decision) {
	for _, id := range slices.Sorted(maps.Keys(d.Shapes)) {
		// The vjob is there and waits: the plan starts it.
		if err := c.exec.Reshape(c.now, id, d.Shapes[id]); err != nil {
			panic(fmt.Sprintf("scheduler: broken invariant: %v", err))
		}
	}
}

// applyTuning passes the CPU caps and weights of a decision to the executor.
func (c *Core) applyTuning(d *decide.Decision) {
	for i := range d.VJobs {
		job := d.VJobs[i].Job
		most, given := d.Caps[job.ID]
		switch {
		case given:
			c.exec.SetCaps(c.now, job.ID, most)
		case !d.SharesCPU:
			c.exec.SetCaps(c.now, job.ID, make([]cluster.MilliCPU, len(job.VMs)))
		}
		if weights, given := d.Weights[job.ID]; given {
			c.exec.SetWeights(c.now, job.ID, weights)
		}
	}
}

// adopt records a plan and begins it.
func (c *Core) adopt(plan ctxswitch.Plan) {
	if plan.Empty() {
		return
	}
	c.expectDepartures(&plan)
	c.exec.Adopt(c.now, c.nextPlan, c.settings.Policy.Name(), plan)
	c.nextPlan++
	c.next.seen = c.exec.Changes()
}
