package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/journal"
	"vjob/energy/power/cycle"
	"vjob/scheduler/decide"
	"vjob/scheduler/recommendation"
)

// improve looks for changes that make the cluster better, after a decision with nothing else to do. What is
// approved comes first. One change is carried out at a time, so that each search sees the effects of those
// before it.
func (c *Core) improve(v *decide.View, d *decide.Decision) {
	c.next.retry(c.book.Expire(c.now))
	if !idle(d) || c.applyApproved(d) {
		return
	}
	if !c.balance(d) {
		c.consolidate(v, d)
	}
}

// idle reports whether a decision has nothing to do and no trouble.
func idle(d *decide.Decision) bool {
	return d.Plan.Empty() && d.Why == "" && len(d.Breaches) == 0 && len(d.Culprits) == 0
}

// applyApproved makes the plan of the first approved recommendation that is still possible, and refuses those
// before it. It reports whether there is one.
func (c *Core) applyApproved(d *decide.Decision) bool {
	for {
		r, ok := c.book.Approved(journal.RecommendBalance, journal.RecommendConsolidate)
		if !ok {
			return false
		}
		plan, caps, why := d.Relocate(r.Moves)
		if why != "" {
			c.book.Refuse(c.now, r.ID, why)
			continue
		}
		d.Plan, d.Caps = plan, caps
		explain(&d.Plan, &r)
		c.book.Applied(c.now, r.ID, c.nextPlan)
		c.power.moved.note(r.Moves, c.now)
		c.power.handOver(c.now, r.Off)
		return true
	}
}

// propose begins a plan, or asks for the approval of its moves. It reports whether the plan begins.
func (c *Core) propose(d *decide.Decision, plan ctxswitch.Plan, caps map[cluster.VJobID][]cluster.MilliCPU, p recommendation.Proposal) bool {
	if c.settings.Automation.Manual[p.Kind] {
		c.book.Add(c.now, p.Kind, []recommendation.Proposal{p})
		return false
	}
	c.begin(d, plan, caps, p)
	return true
}

// begin makes a plan that needs no approval that of a decision, and records what it is for.
func (c *Core) begin(d *decide.Decision, plan ctxswitch.Plan, caps map[cluster.VJobID][]cluster.MilliCPU, p recommendation.Proposal) {
	d.Plan, d.Caps = plan, caps
	explain(&d.Plan, &p.Recommendation)
	c.book.Record(c.now, p.Kind, p, c.nextPlan)
	c.power.moved.note(p.Moves, c.now)
	c.out.Events = append(c.out.Events, journal.Event{At: c.now, Kind: journal.EventPlan, Plan: c.nextPlan, Text: p.Reason})
}

// explain records why the plan moves VMs.
func explain(plan *ctxswitch.Plan, r *journal.Recommendation) {
	cause := cluster.Cause{Kind: cluster.CauseSaving, Nodes: r.Off}
	if r.Kind == journal.RecommendBalance {
		cause = cluster.Cause{Kind: cluster.CauseBalance}
		for _, m := range r.Moves {
			if !slices.Contains(cause.Nodes, m.From) {
				cause.Nodes = append(cause.Nodes, m.From)
			}
		}
	}
	plan.Gangs = slices.Clone(plan.Gangs)
	for i := range plan.Gangs {
		plan.Gangs[i].Cause = cause
	}
}

// Approve approves a recommendation; its changes begin with the next decision. It fails with ErrNotFound, or
// with ErrConflict and what has changed since it was made; then the recommendation is refused.
func (c *Core) Approve(now time.Time, id journal.RecommendationID, by string) error {
	c.now = now
	if err := c.book.Approve(now, id, by); err != nil {
		return err
	}
	r, _ := c.book.Find(id) // it was just approved
	refuse := func(why string) error {
		c.book.Refuse(now, id, why)
		return fmt.Errorf("recommendation %d: the cluster has changed: %s: %w", id, why, cluster.ErrConflict)
	}
	if r.Kind == journal.RecommendPower {
		if why := c.switchApproved(&r); why != "" {
			return refuse(why)
		}
		c.book.Applied(now, id, 0)
		return nil
	}
	if why := c.outdated(&r); why != "" {
		return refuse(why)
	}
	c.next.retry(now)
	return nil
}

// switchApproved switches the nodes of an approved recommendation, all or none. It returns why none can be.
func (c *Core) switchApproved(r *journal.Recommendation) string {
	policy := c.power.policy
	if policy == nil {
		return "power management is off"
	}
	for _, list := range []struct {
		nodes []cluster.NodeID
		want  cycle.Want
	}{{r.On, cycle.WantOn}, {r.Off, cycle.WantOff}} {
		if why := policy.Objection(c.vary, list.nodes, list.want); why != "" {
			return why
		}
	}
	for _, id := range r.On {
		c.power.controller.Wish(c.now, id, cycle.WantOn, r.Reason)
	}
	for _, id := range r.Off {
		c.power.controller.Wish(c.now, id, cycle.WantOff, r.Reason)
	}
	return ""
}

// Reject rejects a recommendation: it is not made again for a while. It fails with ErrNotFound or ErrConflict.
func (c *Core) Reject(now time.Time, id journal.RecommendationID, by, why string) error {
	c.now = now
	return c.book.Reject(now, id, by, why)
}

// staysAfterMove is how long VMs stay at least where a search for less power has moved them, and how long no search
// moves them back.
const staysAfterMove = time.Hour

// moves is the memory of VMs that were moved lately. A restart loses it.
type moves struct {
	stay time.Duration                                 // for which a move is remembered
	from map[cluster.VMID]map[cluster.NodeID]time.Time // the nodes that each VM has left, and when
}

func newMoves(s *Settings) moves {
	m := moves{stay: staysAfterMove, from: map[cluster.VMID]map[cluster.NodeID]time.Time{}}
	if s.Consolidation != nil {
		m.stay = max(m.stay, s.Consolidation.Horizon)
	}
	return m
}

// note records that VMs are moved.
func (m *moves) note(list []cluster.Move, now time.Time) {
	for _, move := range list {
		if m.from[move.VM] == nil {
			m.from[move.VM] = map[cluster.NodeID]time.Time{}
		}
		m.from[move.VM][move.From] = now
	}
}

// forget forgets old moves.
func (m *moves) forget(now time.Time) {
	for vm, nodes := range m.from {
		maps.DeleteFunc(nodes, func(_ cluster.NodeID, at time.Time) bool { return now.Sub(at) >= m.stay })
		if len(nodes) == 0 {
			delete(m.from, vm)
		}
	}
}

// keeps reports whether a VM stays because it was moved lately.
func (m *moves) keeps(vm cluster.VMID) bool { return len(m.from[vm]) > 0 }

// left returns the nodes that a VM has left lately.
func (m *moves) left(vm cluster.VMID) map[cluster.NodeID]time.Time { return m.from[vm] }
