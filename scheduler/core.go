// Package scheduler is the loop: observe, decide, plan, execute. Its core is pure and
// single-threaded: it gathers facts, lets package decide decide, and records the results. A thin
// shell passes it time, looks and replies, and carries out its effects.
//
// [Core.Flush] is one step, deliberation.go and decide.go take a decision when one is due, and [Loop.Run] is the shell
// around them. Each part of the core owns the state that it changes, and takes the requests for it:
//
//	part             state                                                      files
//	Executor         running vjobs, actions under way                           package ctxswitch/execute
//	VJobs            queue order, unmet dependencies                            vjobs.go, order.go, walltime.go
//	Nodes            declared states, maintenance, expected departures          nodes.go, maintenance.go
//	Power            nodes on and off, power limits, energy prices              power.go, prices.go; packages nodepower, powercap
//	Pools            stated pools                                               pools.go, poolstatus.go
//	Rules            stated placement rules                                     rules.go
//	Improver         recommendations, demand of VMs, searches for better places package improve
//	Quarantine       vjobs with which decisions fail                            package quarantine
//	pacing           when the next decision is due                              pacing.go, latecomers.go
//	deliberation     the decision that is taken beside the core                 deliberation.go
//	lastDecision     verdicts of the last decision                              outcome.go
//	capacityLog      what nodes offer, as recorded for reports                  capacity.go
//	alarm.Book       alarms: conditions that need an administrator              alarms.go; package alarm
//	waits            waiting times of vjobs that have started                   waits.go
//
// The core itself owns the time and the number of the next plan. The loop has parts too:
//
//	part             state                                                      files
//	Requests         reservations being confirmed                               request.go, images.go, reserve.go
//	inbox            events, granted requests                                   inbox.go
//	caller           calls without a reply, looks that wait                     calls.go
//	board            the latest snapshot                                        board.go
//	desk             what-ifs that wait                                         desk.go
//	spare            processors for decisions and what-ifs beside the loop      spare.go
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
	"vjob/scheduler/alarm"
	"vjob/scheduler/decide"
	"vjob/scheduler/improve"
	"vjob/scheduler/nodepower"
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
	// Improve configures what is done for a better cluster when there is nothing else to do.
	Improve improve.Settings
}

// Core is the loop without its shell: events go in, effects come out. It has one owner, makes no
// calls and reads no clock, so the daemon, the simulation and the replay of traces run the same
// code.
type Core struct {
	settings Settings
	now      time.Time    // of the last step
	out      journal.Step // written by the core and its parts

	exec       *execute.Executor      // running vjobs and actions under way
	quarantine *quarantine.Quarantine // vjobs with which decisions fail

	VJobs    *VJobs            // queue order and dependencies
	Nodes    *Nodes            // declared states
	Power    *Power            // nodes on and off, power limits, energy prices
	Pools    *Pools            // pools of the cluster
	Rules    *Rules            // placement rules of the cluster
	Improver *improve.Improver // recommendations
	demand   *improve.Demand   // of VMs; nil if nothing uses it
	capacity *capacityLog      // what nodes offer, for reports
	alarms   *alarm.Book
	waits    waits // how long vjobs waited, for metrics

	next         pacing        // when the next decision is due
	deliberation *Deliberation // is taken beside the core; nil for none
	last         lastDecision  // what the last decision said
	site         *decide.Site  // of the nodes, as of the last decision
	shown        nodeStatuses  // as of the last snapshot of the nodes
	nextPlan     journal.PlanID
}

// NewCore continues from the contents of the journal.
func NewCore(settings Settings, loaded journal.Loaded, now time.Time) *Core {
	settings.Ordering = settings.OrderingRules()
	c := &Core{settings: settings, exec: execute.New(settings.Execute, loaded, now), nextPlan: loaded.NextPlan, now: now, quarantine: quarantine.New(settings.Pause)}
	c.last = lastDecision{queueing: newPlaces(nil), open: true, durations: c.exec.Durations.Estimates()}
	c.exec.Needs, c.exec.Expect = c.settings.Needs, settings.Policy.Traits().Needs == queue.Predicted
	retry := c.next.retry
	c.demand = improve.NewDemand(&c.settings.Improve, c.settings.lookBack(), c.exec)
	c.Power = newPower(&c.settings, &loaded, c.exec, c.demand.History(), retry, &c.out, now)
	c.alarms, c.waits = alarm.NewBook(loaded.NextAlarm, loaded.Alarms, now), waits{}
	c.exec.Started = c.waits.observe
	c.capacity = newCapacityLog(loaded.Capacity, c.exec, &c.out)
	c.Nodes = newNodes(c.exec, c.Power.controller, &c.out)
	c.Pools = newPools(&c.settings, loaded.Pools, c.exec, retry, &c.out, now)
	c.Rules = &Rules{ofSettings: settings.Rules, exec: c.exec, retry: retry, out: &c.out, stated: loaded.Rules, reader: placement.NewReader()}
	c.VJobs = newVJobs(&c.settings, &loaded, c.exec)
	parts := improve.Parts{
		Cluster: c.exec, Uses: c.exec.VMs.Demand, Demand: c.demand, Energy: &c.settings.Energy, Switch: c.Power.controller.Wish, Limited: c.Power.cap.Limited,
		View: c.viewWith, Retry: retry,
	}
	if c.Power.policy != nil {
		parts.Power = c.Power.policy
	}
	c.Improver = improve.New(&c.settings.Improve, &parts, &loaded, &c.out)
	return c
}

// lookBack returns how long power management looks back at the demand of VMs.
func (s *Settings) lookBack() time.Duration {
	if s.NodePower == nil {
		return 0
	}
	return s.NodePower.RiskWindow
}

// Replied takes the reply to a call.
func (c *Core) Replied(now time.Time, r execute.Reply) { c.exec.Replied(now, r) }

// Looked takes the result of a look at a node.
func (c *Core) Looked(now time.Time, node cluster.NodeID, view hypervisor.View, err error) {
	c.exec.Looked(now, node, view, err)
}

// LookedStore takes the result of a look at the image store.
func (c *Core) LookedStore(now time.Time, store hypervisor.Store, err error) {
	c.exec.LookedStore(now, store, err)
}

// Hint takes a hint that something changed on a node.
func (c *Core) Hint(now time.Time, node cluster.NodeID) { c.exec.Hint(now, node) }

// Tick advances the time.
func (c *Core) Tick(now time.Time) {
	c.exec.Tick(now)
	c.VJobs.endOverdue(now)
}

// Effects are what the core wants recorded, and done after that.
type Effects struct {
	execute.Effects
	Asks   []power.Request // to power drivers
	Decide *Deliberation   // to be taken beside the core, and passed to [Core.Decided]; nil for none
}

// Flush takes a decision if one is due, and returns the effects.
func (c *Core) Flush(now time.Time) Effects {
	c.now = now
	effects := c.flushExecutor()
	c.receive()
	c.Nodes.finishMaintenance(now)
	c.Power.step(now)
	decided, beside := c.deliberate()
	if decided || beside != nil {
		then := c.flushExecutor()
		effects.Append(&then)
	}
	if c.exec.AllSeen() {
		c.capacity.note(now)
		c.alarms.Update(now, c.conditions(), &c.out)
	}
	if c.exec.AllSeen() && c.next.begun() {
		c.Improver.NoteDemand(now)
		c.tendPower(decided)
	}
	effects.Step.Append(&c.out)
	c.out = journal.Step{}
	effects.Wake = c.wake(effects.Wake)
	return Effects{Effects: effects, Asks: c.Power.controller.Fetch(), Decide: beside}
}

// flushExecutor returns the effects of the executor. The use of vjobs that it records is charged to their accounts.
func (c *Core) flushExecutor() execute.Effects {
	effects := c.exec.Flush()
	c.VJobs.charge(c.now, &effects.Step)
	return effects
}

// tendPower runs the node power policy once a decision has been taken.
func (c *Core) tendPower(decided bool) {
	if c.Power.policy == nil {
		return
	}
	proposed := c.Power.tend(&nodepower.Scene{Now: c.now, Decided: decided, Waiting: c.last.queueing.inOrder, Short: c.last.failover.Why(), View: func() *decide.Variant { return c.vary(c.now) }})
	if c.settings.Improve.Automation.Manual[journal.RecommendPower] {
		c.Improver.RecommendSwitches(c.now, proposed)
	}
}

// Stop returns the last step: the accounts up to now. The core is not used afterwards.
func (c *Core) Stop(now time.Time) journal.Step {
	step := c.exec.WriteAccounts(now)
	c.VJobs.charge(now, &step)
	return step
}

// due reports whether a decision is wanted, long enough after the last one, and every node has been
// observed since the start.
func (c *Core) due() bool {
	wanted, urgent := c.next.wanted(c.now, c.changed())
	return wanted && !c.next.rests(c.now, urgent) && c.exec.AllSeen()
}

// changed reports whether the executor has changed something since the last decision that cannot wait, or time the
// order of the vjobs or a quota.
func (c *Core) changed() bool {
	return c.next.changed(c.exec.Changes()) || c.VJobs.order.Changed(c.now)
}

// Took records how long the last drain took.
func (c *Core) Took(d time.Duration) {
	if c.next.took(d) {
		c.Improver.Took(d)
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
	switching, review := c.Power.wake()
	sooner(switching)
	sooner(review)
	sooner(c.exec.Walltimes.Next())
	sooner(c.VJobs.order.Next())
	return next
}
