package scheduler

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/queue/ordering"
	"vjob/scheduler/decide"
)

// newOrder returns the queue order of the vjobs, with the charges of the journal.
func newOrder(rules *ordering.Settings, loaded *journal.Loaded) *ordering.Order {
	order := ordering.NewOrder(*rules)
	for _, c := range loaded.Charges {
		order.Restore(ordering.Usage(c))
	}
	for _, job := range loaded.VJobs {
		order.Put(job, false)
	}
	return order
}

// flushExecutor returns the effects of the executor. The use of vjobs that it records is charged to
// their accounts in the same step.
func (c *Core) flushExecutor() execute.Effects {
	effects := c.exec.Flush()
	charges := map[journal.Charge]ordering.Usage{} // by account and hour
	for _, use := range effects.Step.Usage {
		if u, ok := c.order.Charge(use.VJob, c.now, use.Running, use.MemorySec); ok {
			key := journal.Charge{User: u.User, Project: u.Project, Queue: u.Queue, Hour: u.Hour}
			u.CPUTime += charges[key].CPUTime
			u.MemoryTime += charges[key].MemoryTime
			charges[key] = u
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(charges), journal.Charge.Compare) {
		effects.Step.Charges = append(effects.Step.Charges, journal.Charge(charges[key]))
	}
	return effects
}

// orderVJobs updates the order with the state of the vjobs and returns the reports in that order.
// The reports come in order of ids.
func (c *Core) orderVJobs(reports []execute.Report) []execute.Report {
	c.order.SetTotal(capacity(c.exec.Nodes()))
	for i := range reports {
		r := &reports[i]
		c.order.Put(r.Job, r.Bound == cluster.VMRunning)
	}
	place := func(id cluster.VJobID) (i int, live bool) {
		return sort.Find(len(reports), func(i int) int { return cmp.Compare(id, reports[i].Job.ID) })
	}
	if c.order.Len() > len(reports) { // some have ended
		c.order.VJobs(func(id cluster.VJobID) {
			if _, live := place(id); !live {
				c.order.Drop(id)
			}
		})
	}
	ordered := make([]execute.Report, 0, len(reports))
	for _, id := range c.order.Sorted(c.now) {
		i, _ := place(id)
		ordered = append(ordered, reports[i])
	}
	return ordered
}

// capacity returns the capacity of all nodes in any state: draining a node changes no share.
func capacity(nodes []execute.NodeReport) (sum cluster.Resources) {
	for _, n := range nodes {
		sum = sum.Plus(n.Capacity)
	}
	return sum
}

// QueueStatus returns the status of queues, quotas and shares.
func (c *Core) QueueStatus(now time.Time) ordering.Status {
	c.now = now
	tally, _ := decide.Count(c.settings.Ordering, c.exec.Jobs(), c.order.Ledger(), now)
	return c.order.Status(now, tally)
}
