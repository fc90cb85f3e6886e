// Package scheduler is the loop: observe, decide, plan, execute. Its core is pure and
// single-threaded: it gathers facts, lets package decide decide, and records the results. A thin
// shell passes it time, looks and replies, and carries out its effects.
//
// [Core.Flush] is one step, decide.go takes a decision when one is due, and [Loop.Run] is the shell
// around them. Packages below hold parts of the state: dependency, quarantine, admission, nodepower
// and powercap. Requests of users come in through request.go; each has a method of the core.
package scheduler

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/duration"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/ctxswitch/placement"
	"vjob/energy/budget"
	"vjob/energy/power"
	"vjob/energy/price"
	"vjob/hypervisor"
	"vjob/queue"
	"vjob/queue/ordering"
	"vjob/scheduler/decide"
	"vjob/scheduler/dependency"
	"vjob/scheduler/nodepower"
	"vjob/scheduler/quarantine"
	"vjob/scheduler/recommendation"
)

// Settings configure the core.
type Settings struct {
	decide.Settings
	Rules string // of the settings, for all vjobs
	// Rest is the least time between two decisions, so that a burst of events costs one.
	Rest    time.Duration
	Budgets *budget.Schedule // of the settings; stated budgets hold beside them
	Prices  *price.Series    // of the settings; stated prices replace them
	Zone    *time.Location   // in which the windows of budgets are read; nil is UTC
	// HoldOverdue suspends and holds vjobs at the end of their walltime instead of ending them.
	HoldOverdue bool
	// Switching configures which nodes can be switched off and on.
	Switching nodepower.ControllerSettings
	// NodePower configures when nodes are switched; nil: only users switch nodes.
	NodePower *nodepower.PolicySettings
	// Consolidation configures when VMs move to where they draw less; nil: never.
	Consolidation *ConsolidationSettings
	Balance       *BalanceSettings // when VMs leave crowded nodes; nil: never
	Placement     Placement
	Automation    Automation
}

// Core is the loop without its shell: events go in, effects come out. It has one owner, makes no
// calls and reads no clock, so the daemon, the simulation and the replay of traces run the same
// code.
type Core struct {
	settings Settings
	now      time.Time
	out      journal.Step // written by the core itself

	exec         *execute.Executor      // running vjobs and actions under way
	order        *ordering.Order        // queue order
	dependencies *dependency.Tracker    // unmet dependencies
	quarantine   *quarantine.Quarantine // vjobs with which decisions fail
	book         *recommendation.Book   // proposed changes
	demand       *demand                // of running VMs; nil if nothing uses it
	balancing    balancing              // searches for moves off crowded nodes
	power        *powerControl          // nodes on and off, power limits, energy prices

	pools  *pools
	rules  journal.Rules // stated through the API, beside those of the settings
	reader *placement.Reader

	next     pacing       // when the next decision is due
	last     lastDecision // what the last one said
	nextPlan journal.PlanID

	durations *duration.Estimates // as the last decision saw them
	// departures is when the plans so far have taken the last VM off a node.
	departures map[cluster.NodeID]time.Time
}

// NewCore continues from the contents of the journal.
func NewCore(settings Settings, loaded journal.Loaded, now time.Time) *Core {
	settings.Ordering = settings.OrderingRules()
	c := &Core{
		settings: settings, exec: execute.New(settings.Execute, loaded, now),
		nextPlan: loaded.NextPlan, now: now, last: lastDecision{verdicts: map[cluster.VJobID]queue.Verdict{}},
		rules: loaded.Rules, reader: placement.NewReader(), quarantine: quarantine.New(settings.Pause), order: newOrder(settings.Ordering, &loaded),
		departures: map[cluster.NodeID]time.Time{},
	}
	c.durations = c.exec.Durations.Estimates()
	c.exec.Needs, c.exec.Expect = c.settings.Needs, settings.Policy.Traits().Needs == queue.Predicted
	c.book = recommendation.NewBook(c.settings.Automation.life(), loaded.NextRecommendation, loaded.Recommendations, &c.out)
	c.demand = newDemand(&c.settings, c.exec)
	c.power = newPowerControl(&c.settings, &loaded, c.exec, c.demand.history(), &c.out, now)
	c.pools = newPools(&c.settings, loaded.Pools, c.exec, &c.out, now)
	c.dependencies = dependency.New(&loaded)
	c.exec.Ended = c.dependencies.Note
	return c
}

// Submitted adds vjobs that the store has accepted.
func (c *Core) Submitted(now time.Time, jobs ...*cluster.VJob) {
	c.now = now
	for _, job := range jobs {
		if c.dependencies.Ended(job.ID) || !c.exec.Add(now, job) {
			continue // it was loaded meanwhile
		}
		if len(job.After) > 0 && job.Replaces == 0 {
			c.dependencies.Wait(job.ID)
		}
		c.order.Put(job, false)
	}
}

// Recall adds what the store knows of vjobs that ended before others were submitted that depend on
// them.
func (c *Core) Recall(past ...journal.EndedVJob) { c.dependencies.Recall(past...) }

// Again adds the next attempts that the store has written for failed vjobs.
func (c *Core) Again(now time.Time, jobs ...*cluster.VJob) {
	for _, job := range jobs {
		c.dependencies.Again(job)
	}
	c.Submitted(now, jobs...)
}

// Failed returns the vjobs that need another attempt since the last call.
func (c *Core) Failed() []cluster.VJobID { return c.dependencies.Failed() }

// Replied takes the reply to a call.
func (c *Core) Replied(now time.Time, r execute.Reply) {
	c.now = now
	c.exec.Replied(now, r)
}

// Looked takes the result of a look at a node.
func (c *Core) Looked(now time.Time, node cluster.NodeID, view hypervisor.View, err error) {
	c.now = now
	c.exec.Looked(now, node, view, err)
}

// LookedStore takes the result of a look at the image store.
func (c *Core) LookedStore(now time.Time, store hypervisor.Store, err error) {
	c.now = now
	c.exec.LookedStore(now, store, err)
}

// Hint takes a hint that something changed on a node.
func (c *Core) Hint(now time.Time, node cluster.NodeID) {
	c.now = now
	c.exec.Hint(now, node)
}

// Tick advances the time.
func (c *Core) Tick(now time.Time) {
	c.now = now
	c.exec.Tick(now)
	c.endOverdue()
}

// Effects are what the core wants recorded, and done after that.
type Effects struct {
	execute.Effects
	Asks []power.Request // to power drivers
}

// Flush takes a decision if one is due, and returns the effects.
func (c *Core) Flush() Effects {
	effects := c.flushExecutor()
	c.finishMaintenance()
	c.switchNodes()
	decided := c.due()
	if decided {
		c.decide()
		then := c.flushExecutor()
		effects.Append(&then)
	}
	if c.exec.AllSeen() && c.next.begun() {
		c.demand.note(c.now)
	}
	c.runNodePower(decided)
	effects.Step.Append(&c.out)
	c.out = journal.Step{}
	effects.Wake = c.wake(effects.Wake)
	return Effects{Effects: effects, Asks: c.power.controller.Fetch()}
}

// Stop returns the last step: the accounts up to now. The core is not used afterwards.
func (c *Core) Stop(now time.Time) journal.Step { return c.exec.WriteAccounts(now) }

// due reports whether a decision is wanted, long enough after the last one, and every node has been
// observed since the start.
func (c *Core) due() bool {
	return c.next.wanted(c.now, c.changed()) && !c.next.rests(c.now) && c.exec.AllSeen()
}

// changed reports whether the executor has changed something since the last decision, or time the
// order of the vjobs or a quota.
func (c *Core) changed() bool { return c.exec.Changes() != c.next.seen || c.order.Changed(c.now) }

// Took records how long the last drain took.
func (c *Core) Took(d time.Duration) {
	if c.next.took(d) {
		c.power.consolidation.took = d
	}
}

// wake returns when Tick is wanted: for the executor, or at the end of a pause, a back-off or a
// walltime.
func (c *Core) wake(next time.Time) time.Time {
	sooner := func(t time.Time) {
		if t.After(c.now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	rested, retry := c.next.next(c.next.wanted(c.now, c.changed()))
	sooner(rested)
	sooner(retry)
	switching, review := c.power.wake()
	sooner(switching)
	sooner(review)
	sooner(c.exec.Walltimes.Next())
	sooner(c.order.Next())
	return next
}
