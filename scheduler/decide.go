package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/scheduler/decide"
	"vjob/scheduler/improve"
	"vjob/scheduler/quarantine"
)

// pose poses a decision on the facts as they are now.
func (c *Core) pose() *Deliberation {
	c.out.Freed = append(c.out.Freed, c.VJobs.dependencies.Settle(c.now, c.exec)...)
	before := c.exec.Changes()
	c.next.decide(c.now, before, c.exec.Planned(), c.settings.Rest)
	c.Improver.Recommend(c.now)
	facts := c.facts(c.now, c.Improver.Approvals())
	if expired, cleared := expire(c.exec, c.now, facts.VJobs), clearInside(c.exec, c.now, facts.VJobs); expired || cleared {
		facts = c.facts(c.now, c.Improver.Approvals())
	}
	c.VJobs.order.Decided(c.now)
	c.last.latest, c.last.open = nil, true // until this one is concluded
	changes := c.exec.Changes()
	return &Deliberation{
		settings: &c.settings.Settings, facts: facts, changes: changes, own: changes - before, search: c.Improver.Search(facts, c.last.division),
	}
}

// conclude carries out what was decided: the executor begins the plan. It returns how many changes of the executor are of
// the decision's own making.
func (c *Core) conclude(t *Deliberation) (own uint64) {
	before, d, v := c.exec.Changes(), &t.decision, t.view
	c.next.retry(v.RecheckAt)
	alarms, again := c.quarantine.Update(&quarantine.Decision{Now: c.now, Quarantined: t.facts.Quarantined, Culprits: d.Culprits, Err: t.err}, c.exec)
	c.out.Events = append(c.out.Events, alarms...)
	c.next.retry(again)
	if d.Verdicts == nil {
		return 0 // the last verdicts stay valid
	}
	stale := before != t.changes
	if stale {
		d.Keep(c.exec.Has)
	}
	if t.err == nil {
		c.Improver.RefuseUnstarted(c.now, d)
		if c.Improver.Improve(&improve.Step{Now: c.now, View: v, Decision: d, Plan: c.nextPlan, Search: t.search, Stale: stale}) {
			c.next.insist(c.now)
		}
	}
	c.reshape(d)
	c.Power.cap.Adopt(&v.Limits)
	v.Entitle(d)
	c.last.noteDivision(d)
	c.applyTuning(d)
	c.exec.VMs.LimitDemand(d.DemandLimits)
	if c.adopt(d.Plan) {
		own = t.own + c.exec.Changes() - before
	}
	c.out.Events = c.last.note(c.now, v, d, c.out.Events)
	c.last.latest = newLatecomers(d)
	for i := range d.Verdicts {
		c.next.retry(d.Verdicts[i].Again)
	}
	return own
}

// facts returns the inputs of a decision, with some starts and drains approved.
func (c *Core) facts(now time.Time, approved decide.Approvals) *decide.Facts {
	nodes := c.counted()
	c.site = c.site.With(nodes, c.settings.Execute.Transfers)
	vjobs := c.VJobs.inOrder(now)
	learned := c.exec.Durations.Learned() // new estimates cost some time on large clusters, so snapshots share them
	if learned != nil {
		c.last.durations = learned
	}
	return &decide.Facts{
		Now: now, VJobs: vjobs, Nodes: nodes, Site: c.site, Bookings: c.exec.VMs, Hardware: c.exec.Hardware(), TransfersAhead: c.exec.TransfersAhead(), Images: c.exec.Space(), NoImages: c.exec.StoreProblem(), Past: c.VJobs.order.Ledger(),
		Rules: c.Rules.texts(), Reader: c.Rules.reader, Budgets: c.Power.cap.Books(), Prices: c.Power.pricesStatus().Series,
		Least: c.Power.controller.Draws(), Wanted: c.Power.wanted(),
		Approvals: approved,
		Waits:     c.VJobs.dependencies.Waiting(), Quarantined: c.quarantine.Active(now, vjobs),
		Learned: learned,
		Pools:   c.Pools.wanted(vjobs), Demand: c.exec.VMs.Demand,
	}
}

// counted returns the nodes in the states in which they count for placing VMs.
func (c *Core) counted() []*execute.NodeReport {
	nodes, own := c.exec.Nodes(), false
	for i, n := range nodes {
		state := c.Power.stateOf(n)
		if state == n.State {
			continue
		}
		if !own {
			nodes, own = slices.Clone(nodes), true
		}
		counted := *n
		counted.State, nodes[i] = state, &counted
	}
	return nodes
}

// view returns what a decision would see.
func (c *Core) view(now time.Time) *decide.View {
	return c.viewWith(now, c.Improver.Approvals())
}

// viewWith returns what a decision would see if some starts and drains were approved.
func (c *Core) viewWith(now time.Time, approved decide.Approvals) *decide.View {
	return decide.NewView(&c.settings.Settings, c.facts(now, approved))
}

// vary returns a variant of what a decision would see.
func (c *Core) vary(now time.Time) *decide.Variant { return c.view(now).Vary() }

// reshape makes the shapes durable in which the plan starts moldable vjobs.
func (c *Core) reshape(d *decide.Decision) {
	for _, id := range slices.Sorted(maps.Keys(d.Shapes)) {
		if !c.exec.Has(id) {
			continue
		}
		// The vjob waits: the plan starts it.
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
			c.exec.SetCaps(c.now, job.ID, nil)
		}
		if weights, given := d.Weights[job.ID]; given {
			c.exec.SetWeights(c.now, job.ID, weights)
		}
	}
}

// adopt records a plan and begins it. It reports whether there is something to begin.
func (c *Core) adopt(plan ctxswitch.Plan) bool {
	if plan.Empty() {
		return false
	}
	c.Nodes.expectDepartures(c.now, &plan)
	c.exec.Adopt(c.now, c.nextPlan, c.settings.Policy.Name(), plan)
	c.nextPlan++
	return true
}
