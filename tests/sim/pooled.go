package sim

import (
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/queue/pool"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// pooled reports whether a run has pools: every third run, which meets every other option.
func (o *Options) pooled() bool { return o.Seed/2%3 == 1 }

// Limits of pools in thousandths of a processor: each holds the largest reservation of one vjob.
const (
	outerReserved, outerLimit = 1000, 3000
	innerLimit                = 2500
)

// poolsOf returns the pools of a run: inner is in outer, and free has shares alone.
func poolsOf() []pool.Pool {
	controls := func(reservation, limit, shares int64) pool.Settings {
		return pool.Settings{
			CPU:    pool.Controls{Reservation: reservation, Limit: limit, Shares: shares},
			Memory: pool.Controls{Limit: pool.Unlimited, Shares: shares},
		}
	}
	return []pool.Pool{
		{Name: "outer", Settings: controls(outerReserved, outerLimit, 2000)},
		{Name: "inner", Parent: "outer", Settings: controls(0, innerLimit, 500)},
		{Name: "free", Settings: controls(0, pool.Unlimited, 1000)},
	}
}

// simPools are the pools of vjobs, in turn.
var simPools = []string{"", "outer", "inner", "free"}

// attach sets the pool and the controls of a submission.
func (r *run) attach(sub *admission.Submission) {
	if !r.opts.pooled() {
		return
	}
	n := len(r.check.acked)
	sub.Pool = simPools[n%len(simPools)]
	sub.CPUReservation = cluster.MilliCPU(n%3) * 250
	sub.Shares = []string{"", "high", "low", "3000"}[n/2%4]
	if n%5 == 3 {
		sub.CPULimit = 750
	}
}

// restate changes a pool and moves a vjob, as an administrator would. Either may be refused.
func (r *run) restate(id cluster.VJobID) {
	if !r.opts.pooled() {
		return
	}
	n := r.shell.Now().UnixMilli()
	s := pool.PoolStatement{Name: "stated", Parent: simPools[n%4]}
	s.CPU.Shares = []string{"high", "low"}[n%2]
	_ = r.shell.SetPool(s, "op")
	_ = r.shell.MoveVJob(scheduler.PoolMove{VJob: id, Pool: simPools[n/7%4], By: "op"})
}

// inPools checks at the start of a vjob that what runs beside it has not reserved more than its pools, the pools above
// and the cluster have.
func (r *run) inPools(step journal.Step) {
	if !r.opts.pooled() {
		return
	}
	state := func(id cluster.VJobID) cluster.State {
		for _, c := range slices.Backward(step.VJobs) {
			if c.ID == id {
				return c.State
			}
		}
		return r.check.jobs[id].State
	}
	var starts []cluster.VJobID
	for _, c := range step.VJobs {
		before := r.check.jobs[c.ID].State
		if state(c.ID) == c.State && before.Ready() && (c.State == cluster.Booting || c.State == cluster.Resuming) {
			starts = append(starts, c.ID)
		}
	}
	if len(starts) == 0 {
		return
	}
	reserved, exempt := map[string]int64{}, map[cluster.VJobID]bool{}
	for _, row := range r.store.VJobs() {
		exempt[row.ID] = row.Inner != 0 || !row.Reservation.IsZero() || row.CPUReservation == 0
		switch state(row.ID) {
		case cluster.Booting, cluster.Running, cluster.Migrating, cluster.Resuming:
			if row.Inner == 0 {
				reserved[row.Pool] += int64(row.CPUReservation) * int64(row.Size)
			}
		default:
		}
	}
	total := int64(0)
	for _, n := range r.cluster.Nodes() {
		total += int64(n.Capacity.CPU)
	}
	outer := reserved["outer"] + reserved["inner"]
	all := max(outer, outerReserved) + reserved["free"] + reserved[""]
	for _, id := range starts {
		if exempt[id] {
			continue
		}
		row, _ := r.store.VJob(id)
		switch in := row.Pool; {
		case in == "inner" && reserved["inner"] > innerLimit, (in == "inner" || in == "outer") && outer > outerLimit, all > total:
			r.check.violate(33, "vjob %s starts in pool %q: reserved are %v of a cluster of %d", id, in, reserved, total)
		}
	}
}

// entitled checks the last division: the VMs are entitled to no more than the nodes have that count, and each to what it
// has reserved, unless the nodes have less than is reserved, or more is reserved in a pool than its limit: advance
// reservations start whatever pools say.
func (r *run) entitled() {
	s := r.shell.Snapshot()
	if !r.opts.pooled() || s == nil || !s.Pools.Divided {
		return
	}
	sum := cluster.Resources{}
	honours := s.Pools.Reserved.Fits(s.Pools.Capacity)
	for i := range s.Pools.Pools {
		p := &s.Pools.Pools[i]
		honours = honours && int64(p.Reserved.CPU) <= p.CPU.Limit
	}
	for id, status := range s.VJobs.All() {
		for rank, e := range status.Entitled {
			if e.Weight == 0 {
				continue // it does not run
			}
			sum = sum.Plus(e.Given)
			if honours && e.Given.CPU < e.Reserved {
				r.check.violate(34, "VM %d of vjob %s has reserved %s CPU and is entitled to %s", rank, id, e.Reserved, e.Given.CPU)
			}
		}
	}
	if !sum.Fits(s.Pools.Capacity) {
		r.check.violate(34, "VMs are entitled to %s, the nodes have %s", sum, s.Pools.Capacity)
	}
}
