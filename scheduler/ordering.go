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

// newOrder is the desk with the vjobs and the charges of the journal.
func newOrder(rules *ordering.Rules, loaded *journal.Loaded) *ordering.Order {
	desk := ordering.NewOrder(*rules)
	for _, c := range loaded.Charges {
		desk.Restore(ordering.Usage(c))
	}
	for _, job := range loaded.VJobs {
		desk.Put(job, false)
	}
	return desk
}

// drainExecutor is what the executor wants done. What it writes down of the use of vjobs is
// charged to those on whose behalf they run, in the same step.
func (c *Core) drainExecutor() execute.Effects {
	effects := c.exec.Drain()
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

// orderVJobs tells the desk what has become of the vjobs, and puts them in its order. The
// reports are in order of numbers.
func (c *Core) orderVJobs(reports []execute.Report) []execute.Report {
	c.order.SetTotal(c.capacity())
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

// capacity is what all nodes have, whatever is decreed of them: a node that is drained
// makes nobody larger beside others.
func (c *Core) capacity() (sum cluster.Resources) {
	for _, n := range c.exec.Nodes() {
		sum = sum.Plus(n.Capacity)
	}
	return sum
}

// QueueStatus is how queues, quotas and shares stand now.
func (c *Core) QueueStatus(now time.Time) ordering.Status {
	c.now = now
	tally, _ := decide.Count(c.settings.Arrangement, c.exec.Jobs(), c.order.Ledger(), now)
	return c.order.Status(now, tally)
}
