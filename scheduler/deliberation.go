package scheduler

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/scheduler/decide"
	"vjob/scheduler/improve"
)

// Deliberation is one decision on its way, with the search for moves that is due with it: posed on the facts of an instant, taken, and
// concluded. Where decisions are quick, all of that happens in one step. Otherwise the decision is taken beside the core, which goes on meanwhile; the
// shell that takes it passes it back by [Core.Decided].
type Deliberation struct {
	settings *decide.Settings
	facts    *decide.Facts
	changes  uint64          // of the executor as of the facts
	own      uint64          // of these, the ones that the decision has made itself
	search   *improve.Search // that follows it; nil if none is due

	// The answer.
	view     *decide.View
	decision decide.Decision
	err      error
	answered bool
}

// longDecision is how long decisions take for which the core does not wait.
const longDecision = 20 * time.Millisecond

// Decide takes the decision. It uses nothing of the core, unless it is taken in the step that posed it.
func (d *Deliberation) Decide() {
	d.view = decide.NewView(d.settings, d.facts)
	d.decision, d.err = d.view.Decide()
	if d.err == nil && d.decision.Verdicts != nil {
		d.search.After(&d.decision)
	}
}

// plan returns what is to be begun: the plan of the decision, or of the search that followed it.
func (d *Deliberation) plan() ctxswitch.Plan {
	if d.decision.Plan.Empty() {
		return d.search.Plan()
	}
	return d.decision.Plan
}

// Decided passes back a decision that was taken beside the core, and how long that took.
func (c *Core) Decided(d *Deliberation, took time.Duration) {
	if d != c.deliberation {
		return // of a core that was replaced
	}
	d.answered = true
	c.next.retry(d.view.RecheckAt)
	c.next.lastedFor(took)
	c.Improver.Took(took)
}

// deliberate takes a decision if one is due. It reports whether one was taken, and returns one that is to be taken beside
// the core.
func (c *Core) deliberate() (decided bool, beside *Deliberation) {
	if d := c.deliberation; d != nil {
		if !d.answered {
			return false, nil
		}
		c.deliberation = nil
		if c.stands(d) {
			own := c.conclude(d)
			c.receive() // what has come since its facts is judged by it
			c.next.seen += own
			return true, nil
		}
		c.next.insist(c.now)
	}
	if !c.due() {
		return false, nil
	}
	mayWait := c.next.long()
	d := c.pose()
	if mayWait {
		d.facts.Detach()
		d.search.Detach()
		c.deliberation = d
		return false, d
	}
	d.Decide()
	c.next.seen += c.conclude(d)
	return true, nil
}

// stands reports whether a decision that was taken beside the core still holds. What has come, grown or ended since its facts
// is for the next decision: the executor checks what a call needs when its turn comes. But it does not hold if another one was
// asked for meanwhile, as when rules or budgets change, or is due with the time, as when another budget begins to hold; or if a
// vjob or a node that its plan concerns is not as it was.
func (c *Core) stands(d *Deliberation) bool {
	return !c.next.asked(c.now) && c.vjobsStand(d) && c.nodesStand(d)
}

// vjobsStand reports whether each vjob that the plan changes has ended, or is as the decision saw it.
func (c *Core) vjobsStand(d *Deliberation) bool {
	changed := map[cluster.VJobID]bool{}
	plan := d.plan()
	for i := range plan.Gangs {
		changed[plan.Gangs[i].VJob] = true
	}
	for i := range d.decision.VJobs {
		then := d.decision.VJobs[i].Job
		if !changed[then.ID] {
			continue
		}
		if now, live := c.exec.Job(then.ID); live && (now.Busy() || now.Job != then) {
			return false
		}
	}
	return true
}

// nodesStand reports whether each node on which the plan acts is as the decision saw it, but for what its VMs use.
func (c *Core) nodesStand(d *Deliberation) bool {
	used, plan := map[cluster.NodeID]bool{}, d.plan()
	for i := range plan.Actions {
		act := &plan.Actions[i]
		used[act.From], used[act.To] = true, true
	}
	for id := range used {
		at, stated := slices.BinarySearchFunc(d.facts.Nodes, id, func(n *execute.NodeReport, id cluster.NodeID) int { return cmp.Compare(n.ID, id) })
		if !stated {
			continue // "": from or to no node
		}
		then := d.facts.Nodes[at]
		now, known := c.exec.Node(id)
		if !known || c.Power.stateOf(&now) != then.State || now.Silent != then.Silent || now.On != then.On || now.Capacity != then.Capacity || now.PlatformClass != then.PlatformClass {
			return false
		}
	}
	return true
}
