// Package scheduler is the loop: observe, decide, plan, execute. Its core is pure and
// single-threaded: it gathers what is known, has package decide decide, and writes down what
// comes of it. A thin shell gives it time, looks and replies, and carries out what it asks
// for.
//
// To read it: [Core.Drain] is one step, decide.go what happens when a decision is due, and
// [Loop.Run] is the shell around them. What the core knows has rooms of its own: kin (who
// waits for whom), exile (with whom no decision can be taken), intake (what is asked for),
// nodepower and powercap (the power of nodes). Requests of people come in through request.go; each has its method of
// the core beside its noun.
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

// Settings steer the core.
type Settings struct {
	decide.Settings
	Rules string // of the settings, for all vjobs
	// Rest is the least time between two decisions, so that a burst of events
	// costs one.
	Rest    time.Duration
	Budgets *budget.Book   // of the settings, which hold beside those that are stated
	Prices  *price.Series  // of the settings; those that are stated stand in their place
	Zone    *time.Location // in which the windows of budgets are read; nil is UTC
	// HoldOverdue suspends and holds vjobs whose walltime is over, instead of ending them.
	HoldOverdue bool
	// Switching says which nodes can be switched off and on.
	Switching nodepower.ControllerSettings
	// Caretaking says when that is done; nil: only people switch nodes.
	Caretaking *nodepower.PolicySettings
	// Consolidating says when VMs are moved to where they draw less; nil: never.
	Consolidating *Consolidating
}

// Core is the loop without its shell: events go in, effects come out. It has one
// owner, calls nobody and looks at no clock, so the daemon, the simulation and
// the replay of traces run the very same code.
type Core struct {
	settings Settings
	now      time.Time
	out      journal.Step // written by the core itself

	exec          *execute.Executor     // what runs, and on the way there
	order         *ordering.Order       // in which order vjobs are looked at
	dependencies  *dependency.Tracker   // who waits for whom
	controller    *nodepower.Controller // which nodes are off, or on their way
	powerCap      *powercap.Cap         // what may be drawn
	nodePower     *nodepower.Policy     // which nodes are to be on; nil: only people switch them
	consolidation consolidationState    // where VMs would draw less

	rules  journal.Rules // stated through the API, beside those of the settings
	reader *placement.Reader
	prices journal.Prices // stated through the API, in place of those of the settings
	series *price.Series  // the same, read

	// The last decision: when it was, what it saw and what it said.
	decided     uint64                           // the executor's changes that it has seen
	decidedAt   time.Time                        // zero before the first decision
	pause       time.Duration                    // from then to the next one at least
	justDecided bool                             // the last drain has decided
	verdicts    map[cluster.VJobID]queue.Verdict // of each vjob
	breaches    []string                         // of rules, as it saw them
	undrained   map[cluster.NodeID]string        // drained nodes that it left VMs on, and why
	queueing    []cluster.VJobID                 // those that wait, in order
	nextPlan    journal.PlanID

	// What makes the next one necessary, or goes wrong in it.
	retryAt          time.Time               // when a vjob comes out of its back-off
	quarantine       *quarantine.Quarantine  // no decision could be taken with them
	lateReservations map[cluster.VJobID]bool // reservations that cannot begin in time, of which people are told
}

// NewCore goes on from what the journal holds.
func NewCore(settings Settings, loaded journal.Loaded, now time.Time) *Core {
	settings.Arrangement = settings.OrderingRules()
	c := &Core{
		settings: settings, exec: execute.New(settings.Execute, loaded, now),
		nextPlan: loaded.NextPlan, now: now, verdicts: map[cluster.VJobID]queue.Verdict{},
		rules: loaded.Rules, reader: placement.NewReader(), consolidation: consolidationState{moved: map[cluster.VMID]time.Time{}}, quarantine: quarantine.New(settings.Pause), order: newOrder(settings.Arrangement, &loaded),
	}
	c.exec.Needs, c.exec.Expect = c.settings.Needs, settings.Policy.Traits().Needs == queue.Predicted
	c.restorePower(&loaded)
	c.restorePrices(loaded.Prices)
	c.dependencies = dependency.New(&loaded)
	c.exec.Ended = c.dependencies.Note
	return c
}

// Submitted takes in vjobs that the store has accepted.
func (c *Core) Submitted(now time.Time, jobs ...*cluster.VJob) {
	c.now = now
	for _, job := range jobs {
		if c.dependencies.Ended(job.ID) || !c.exec.Add(now, job) {
			continue // this comes late: it was loaded meanwhile
		}
		if len(job.After) > 0 && job.Replaces == 0 {
			c.dependencies.Wait(job.ID)
		}
		c.order.Put(job, false)
	}
}

// Recall takes in what the store knows of vjobs that ended before others were submitted
// that wait for them.
func (c *Core) Recall(past ...journal.Past) { c.dependencies.Recall(past...) }

// Again takes in the next attempts that the store has written for vjobs that failed.
func (c *Core) Again(now time.Time, jobs ...*cluster.VJob) {
	for _, job := range jobs {
		c.dependencies.Again(job)
	}
	c.Submitted(now, jobs...)
}

// Failed are the vjobs of which the last step asked for another attempt. They are given
// once.
func (c *Core) Failed() []cluster.VJobID { return c.dependencies.Failed() }

// Replied takes in the reply to a call.
func (c *Core) Replied(now time.Time, r execute.Reply) {
	c.now = now
	c.exec.Replied(now, r)
}

// Looked takes in a look at a node.
func (c *Core) Looked(now time.Time, node cluster.NodeID, view hypervisor.View, err error) {
	c.now = now
	c.exec.Looked(now, node, view, err)
}

// LookedStore takes in a look at the image store.
func (c *Core) LookedStore(now time.Time, store hypervisor.Store, err error) {
	c.now = now
	c.exec.LookedStore(now, store, err)
}

// Hint takes in that something changed on a node.
func (c *Core) Hint(now time.Time, node cluster.NodeID) {
	c.now = now
	c.exec.Hint(now, node)
}

// Tick lets time pass.
func (c *Core) Tick(now time.Time) {
	c.now = now
	c.exec.Tick(now)
	c.endOverdue()
}

// Effects are what the core wants written down, and done after that.
type Effects struct {
	execute.Effects
	Asks []power.Ask // of power drivers
}

// Drain decides if it is time to, and returns what is to be done.
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

// due reports whether something has changed since the last decision, long enough
// after it, and every node has been looked at since the start.
func (c *Core) due() bool {
	if !c.stale() || !c.decidedAt.IsZero() && c.now.Sub(c.decidedAt) < c.pause {
		return false
	}
	return c.exec.Surveyed()
}

// Took says how long the last drain took. If it has decided, at least as much time is
// left for other things before the next decision: however long the queue is, those who
// submit do not wait for one pass after the other.
func (c *Core) Took(d time.Duration) {
	if c.justDecided {
		c.pause, c.justDecided, c.consolidation.took = max(c.settings.Rest, 2*d), false, d
	}
}

// wake is when Tick is wanted: the executor's own wish, the end of the rest, of a
// back-off, or of a walltime.
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
	sooner(c.exec.NextEnd())
	sooner(c.order.Next())
	return next
}

// changed reports whether something has changed since the last decision: what the
// executor has, or by time alone the order of the vjobs or a quota.
func (c *Core) changed() bool { return c.exec.Changes() != c.decided || c.order.Changed(c.now) }

// stale reports whether the last decision may be another by now: something has changed, or
// the time has come for which it asked.
func (c *Core) stale() bool {
	return c.changed() || !c.retryAt.IsZero() && !c.now.Before(c.retryAt)
}
