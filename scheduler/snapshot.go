package scheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/queue"
)

// answering returns the nodes that answer.
func (s *Snapshot) answering() map[cluster.NodeID]bool {
	list := map[cluster.NodeID]bool{}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; !n.Silent && !n.Since.IsZero() {
			list[n.ID] = true
		}
	}
	return list
}

// Snapshot returns the state of the loop.
func (c *Core) Snapshot() *Snapshot {
	s := &Snapshot{
		At: c.now, Ready: c.next.begun(), Policy: c.settings.Policy.Name(),
		VJobs: map[cluster.VJobID]VJobStatus{},
		Rules: RulesStatus{Settings: c.settings.Rules, Stated: c.Rules.stated, Broken: c.last.breaches},
	}
	s.Budgets, s.Prices, s.Consolidation = c.Power.cap.Budgets(c.now), c.Power.pricesStatus(), c.Improver.ConsolidationStatus()
	s.Balance, s.Recommendations, s.Failover = c.Improver.BalanceStatus(), c.Improver.RecommendationStatus(), c.last.failover
	s.Durations, s.Alarms, s.Waits = c.last.durations, c.alarms.Open(), c.waits.copied()
	for _, rule := range slices.Sorted(maps.Keys(c.last.dropped)) {
		s.Rules.Dropped = append(s.Rules.Dropped, c.last.dropped[rule])
	}
	actions := c.exec.Actions()
	nodes, vjobs := c.exec.Nodes(), c.exec.Jobs()
	s.Pools = c.Pools.status(nodes, vjobs, c.last.division)
	for _, n := range nodes {
		s.Nodes = append(s.Nodes, NodeStatus{
			Node: n.Node, Used: n.Used, Demand: n.Demand, VMs: n.VMs, Silent: n.Silent, Since: n.Since, Problem: cmp.Or(n.Problem, c.last.undrained[n.ID]), Warnings: n.Warnings, Software: n.Software,
			Platforms: n.Platforms, Power: c.Power.cap.Node(&n), Maintenance: c.Nodes.maintenance(c.now, &n, actions, c.last.undrained[n.ID]), Switch: c.Power.controller.Switch(n.ID),
		})
	}
	for _, r := range vjobs {
		if r.Job.Moves == cluster.MovesManual {
			s.ManualVJobs++
		}
		status := VJobStatus{
			Owner: r.Job.Owner, State: r.Job.State, Held: r.Job.Held, Gang: *r.Record, Ran: r.Ran, Crowded: r.Crowded, Cause: r.Job.Cause, Watts: r.Watts,
			Promised: r.Promised != 0 && r.Job.State.Ready(), Refusals: r.Refusals,
		}
		status.Queue = c.VJobs.order.Queue(r.Job.ID)
		status.Pool, status.Entitled = c.Pools.in(r.Job, s.Pools.Hierarchy), c.last.entitled(r.Job)
		status.Rank, _ = c.VJobs.order.Rank(r.Job.ID, c.now)
		v, decided := c.last.verdicts[r.Job.ID]
		switch {
		case r.Blind && r.Wait != "":
			status.Reason = r.Wait
		case r.Promised != 0 && r.Job.State.Ready():
			status.Reason = fmt.Sprintf("context switch %d makes room for it", r.Promised)
		case !r.Job.State.Stable():
			status.Reason = r.Wait
		case decided && v.Reason != "" && (r.Job.State.Ready() || v.Target == queue.Run):
			status.Reason = v.Reason
		}
		if decided && r.Job.State.Ready() && v.Target == queue.Wait {
			status.Start = v.Start
		}
		s.VJobs[r.Job.ID] = status
	}
	for i, id := range c.last.queueing {
		if status, ok := s.VJobs[id]; ok && status.State.Ready() {
			status.Place = i + 1
			s.VJobs[id] = status
		}
	}
	for _, a := range actions {
		s.Running = append(s.Running, ActionStatus{
			Plan: a.Plan, VM: a.VM, What: a.Kind.String(), Phase: a.Phase.String(),
			From: a.From, To: a.To, Began: a.Began, Expected: a.Expected,
		})
	}
	return s
}
