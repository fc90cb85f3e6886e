// Package scheduler is the loop: observe, decide, plan, execute. Its core is pure and
// single-threaded: it gathers facts, lets package decide decide, and records the results. A thin
// shell passes it time, looks and replies, and carries out its effects.
//
// [Core.Drain] is one step, decide.go takes a decision when one is due, and [Loop.Run] is the shell
// around them. Packages below hold parts of the state: dependency, quarantine, admission, nodepower
// and powercap. Requests of users come in through request.go; each has a method of the core.
package scheduler

import (
	"time"

	"vjob/cluster"
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
	"vjob/scheduler/powercap"
	"vjob/scheduler/quarantine"
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
}

// Core is the loop without its shell: events go in, effects come out. It has one owner, makes no
// calls and reads no clock, so the daemon, the simulation and the replay of traces run the same
// code.
type Core struct {
	settings Settings
	now      time.Time
	out      journal.Step // written by the core itself

	exec          *execute.Executor     // running vjobs and actions under way
	order         *ordering.Order       // queue order
	dependencies  *dependency.Tracker   // unmet dependencies
	controller    *nodepower.Controller // power states of nodes
	powerCap      *powercap.Cap         // power limits
	nodePower     *nodepower.Policy     // which nodes should be on; nil: only users switch them
	consolidation consolidationState    // where VMs would draw less

	rules  journal.Rules // stated through the API, beside those of the settings
	reader *placement.Reader
	prices journal.Prices // stated through the API, in place of those of the settings
	series *price.Series  // the same, read

	// The last decision: when it was, what it saw and what it said.
	decided     uint64                           // changes of the executor as of the decision
	decidedAt   time.Time                        // zero before the first decision
	pause       time.Duration                    // from decidedAt to the next decision at least
	justDecided bool                             // the last drain has decided
	verdicts    map[cluster.VJobID]queue.Verdict // of each vjob
	breaches    []string                         // of rules, as it saw them
	undrained   map[cluster.NodeID]string        // drained nodes with VMs, and why
	queueing    []cluster.VJobID                 // waiting vjobs, in order
	nextPlan    journal.PlanID

	// What makes the next decision necessary, or goes wrong in it.
	retryAt          time.Time               // when a vjob comes out of its back-off
	quarantine       *quarantine.Quarantine  // vjobs with which decisions fail
	lateReservations map[cluster.VJobID]bool // reported as unable to begin in time
}

// NewCore continues from the contents of the journal.
func NewCore(settings Settings, loaded journal.Loaded, now time.Time) *Core {
	settings.Ordering = settings.OrderingRules()
	c := &Core{
		settings: settings, exec: execute.New(settings.Execute, loaded, now),
		nextPlan: loaded.NextPlan, now: now, verdicts: map[cluster.VJobID]queue.Verdict{},
		rules: loaded.Rules, reader: placement.NewReader(), consolidation: consolidationState{moved: map[cluster.VMID]time.Time{}}, quarantine: quarantine.New(settings.Pause), order: newOrder(settings.Ordering, &loaded),
	}
	c.exec.Needs, c.exec.Expect = c.settings.Needs, settings.Policy.Traits().Needs == queue.Predicted
	c.restorePower(&loaded)
	c.restorePrices(loaded.Prices)
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

// Drain takes a decision if one is due, and returns the effects.
func (c *Core) Drain() Effects {
	effects := c.drainExecutor()
	c.switchNodes()
	decided := c.due()
	if decided {
		c.decide()
		then := c.drainExecutor()
		effects.Append(&then)
	}
	c.runNodePower(decided)
	effects.Step.Append(&c.out)
	c.out = journal.Step{}
	effects.Wake = c.wake(effects.Wake)
	return Effects{Effects: effects, Asks: c.controller.Fetch()}
}

// due reports whether something has changed since the last decision, long enough after it, and
// every node has been observed since the start.
func (c *Core) due() bool {
	if !c.stale() || !c.decidedAt.IsZero() && c.now.Sub(c.decidedAt) < c.pause {
		return false
	}
	return c.exec.AllSeen()
}

// Took records how long the last drain took. If it has decided, the next decision begins no sooner
// than twice that time after it, so that a long queue does not delay requests.
func (c *Core) Took(d time.Duration) {
	if c.justDecided {
		c.pause, c.justDecided, c.consolidation.took = max(c.settings.Rest, 2*d), false, d
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
	if !c.decidedAt.IsZero() && c.stale() {
		sooner(c.decidedAt.Add(c.pause))
	}
	if !c.retryAt.IsZero() {
		sooner(c.retryAt)
	}
	sooner(c.controller.Wake())
	if c.nodePower != nil {
		sooner(c.nodePower.Next())
	}
	sooner(c.exec.Walltimes.Next())
	sooner(c.order.Next())
	return next
}

// changed reports whether the executor has changed something since the last decision, or time the
// order of the vjobs or a quota.
func (c *Core) changed() bool { return c.exec.Changes() != c.decided || c.order.Changed(c.now) }

// stale reports whether a new decision may differ from the last one.
func (c *Core) stale() bool {
	return c.changed() || !c.retryAt.IsZero() && !c.now.Before(c.retryAt)
}
