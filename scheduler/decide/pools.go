package decide

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/queue"
	"vjob/queue/forecast"
	"vjob/queue/pool"
)

// applyPools applies the reservations and the limits of the pools: a vjob of which the reservation does not fit
// beside those of the running vjobs is ineligible, and one that does not fit beside those of the starting vjobs
// gets no capacity. Memory counts as reserved in full, since it is not taken back from a running VM. Advance
// reservations that have begun count whatever the pools say.
func (v *View) applyPools(m *queue.Input) {
	h := v.facts.Pools
	if h == nil {
		return
	}
	c := &pooledCapacity{ledger: h.Ledger(), needs: make(map[cluster.VJobID]poolNeed, len(v.VJobs)), counted: map[cluster.VJobID]bool{}}
	for i := range v.VJobs {
		c.countRunning(v, &v.VJobs[i])
	}
	for i := range m.Jobs {
		if j := &m.Jobs[i]; j.Ineligible == "" && j.Reservation.IsZero() {
			j.Ineligible = c.refuses(j.ID)
		}
	}
	wrap := func(inner queue.Capacity) queue.Capacity { return c.clone(inner) }
	room, roomAt := m.Capacity, m.CapacityAt
	if roomAt == nil {
		roomAt = func(time.Time) queue.Capacity { return room() }
	}
	m.CapacityAt = roomAt
	m.Capacity = func() queue.Capacity { return wrap(room()) }
}

// poolNeed is what a vjob reserves in its pool.
type poolNeed struct {
	pool string
	more cluster.Resources
}

// pooledCapacity is capacity that checks the pools first. It starts from the running vjobs and counts those that
// it takes.
type pooledCapacity struct {
	queue.Capacity
	ledger  *pool.Ledger
	needs   map[cluster.VJobID]poolNeed // of vjobs that do not run; shared
	counted map[cluster.VJobID]bool
}

// countRunning counts a vjob that runs or is under way to, and what a paused one keeps in memory.
func (c *pooledCapacity) countRunning(v *View, r *execute.Report) {
	need := poolNeed{v.poolOf(r.Job), PoolReservation(r.Job)}
	switch paused := r.Record.Paused(); {
	case r.Bound == cluster.VMRunning, !r.Job.State.Ready() && !paused, v.facts.reservationDue(r.Job):
		c.ledger.Count(need.pool, need.more)
		c.counted[r.Job.ID] = true
		return
	case paused:
		c.ledger.Count(need.pool, need.more.Paused())
		need.more.Memory = 0
	}
	c.needs[r.Job.ID] = need
}

// PoolReservation returns what a running vjob reserves in its pool: the CPU that was asked for as reserved, and all
// of its memory.
func PoolReservation(job *cluster.VJob) cluster.Resources {
	return cluster.Resources{CPU: job.CPUReservation * cluster.MilliCPU(len(job.VMs)), Memory: job.Reserved().Memory}
}

func (c *pooledCapacity) clone(inner queue.Capacity) *pooledCapacity {
	counted := make(map[cluster.VJobID]bool, len(c.counted))
	for id := range c.counted {
		counted[id] = true
	}
	return &pooledCapacity{inner, c.ledger.Clone(), c.needs, counted}
}

// refuses returns which pool has too little left for a vjob, in words; "" if none.
func (c *pooledCapacity) refuses(id cluster.VJobID) string {
	need, known := c.needs[id]
	if !known || c.counted[id] {
		return ""
	}
	return c.ledger.Refuses(need.pool, need.more)
}

// Take implements [queue.Capacity].
func (c *pooledCapacity) Take(id cluster.VJobID) (ok bool, short queue.Shortage) {
	if why := c.refuses(id); why != "" {
		return false, queue.Shortage{Limit: why, Kind: cluster.CausePool}
	}
	if ok, short = c.Capacity.Take(id); ok && !c.counted[id] {
		if need, known := c.needs[id]; known {
			c.ledger.Count(need.pool, need.more)
			c.counted[id] = true
		}
	}
	return ok, short
}

// poolOf returns the pool of a vjob; "" is the cluster.
func (v *View) poolOf(job *cluster.VJob) string {
	if v.facts.Pools == nil {
		return ""
	}
	return v.settings.OrderingRules().Pool(job, func(name string) bool {
		_, known := v.facts.Pools.Pool(name)
		return known
	})
}

// poolNeeds returns what vjobs reserve in their pools in a forecast; nil without pools. A paused vjob counts as one
// that is suspended to disk.
func (v *View) poolNeeds() func(job *cluster.VJob) forecast.PoolNeed {
	if v.facts.Pools == nil {
		return nil
	}
	pools := v.facts.Pools.Forecast(v.facts.Now)
	return func(job *cluster.VJob) forecast.PoolNeed { return pools.Need(v.poolOf(job), PoolReservation(job)) }
}
