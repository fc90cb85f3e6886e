package scheduler

import (
	"maps"
	"slices"

	"vjob/cluster"
)

// answering returns the nodes that answer.
func (s *Snapshot) answering() map[cluster.NodeID]bool {
	list := map[cluster.NodeID]bool{}
	for i := range s.Nodes {
		if n := s.Nodes[i]; !n.Silent && !n.Since.IsZero() {
			list[n.ID] = true
		}
	}
	return list
}

// Snapshot returns the state of the loop.
func (c *Core) Snapshot() *Snapshot { return c.snapshotWith(c.nodesStatus()) }

// snapshotWith returns the state of the loop with a given status of the nodes. However many vjobs there are, it costs what
// has changed of them since the last snapshot.
func (c *Core) snapshotWith(nodes []*NodeStatus) *Snapshot {
	s := &Snapshot{
		At: c.now, Ready: c.next.begun(), Policy: c.settings.Policy.Name(), Nodes: nodes, Declared: c.exec.Declared(),
		Rules: RulesStatus{Settings: c.settings.Rules, Stated: c.Rules.stated, Broken: c.last.breaches},
	}
	s.Budgets, s.Prices, s.Consolidation = c.Power.cap.Budgets(c.now), c.Power.pricesStatus(), c.Improver.ConsolidationStatus()
	s.Balance, s.Recommendations, s.Failover = c.Improver.BalanceStatus(), c.Improver.RecommendationStatus(), c.last.failover
	s.Durations, s.Alarms, s.Waits = c.last.durations, c.alarms.Open(), c.waits.copied()
	for _, rule := range slices.Sorted(maps.Keys(c.last.dropped)) {
		s.Rules.Dropped = append(s.Rules.Dropped, c.last.dropped[rule])
	}
	live := c.exec.Live()
	s.Pools, s.ManualVJobs = c.Pools.status(c.last.division), live.Manual()
	s.VJobs = &vjobsStatus{
		live: live, ranks: c.VJobs.order.Ranks(c.now), settings: c.settings.Ordering, pools: s.Pools.Hierarchy,
		verdicts: c.last.verdicts.Copy(), places: c.last.queueing, division: c.last.division,
	}
	for _, a := range c.exec.Actions() {
		s.Running = append(s.Running, ActionStatus{
			Plan: a.Plan, VM: a.VM, What: a.Kind.String(), Phase: a.Phase.String(),
			From: a.From, To: a.To, Began: a.Began, Expected: a.Expected,
		})
	}
	return s
}
