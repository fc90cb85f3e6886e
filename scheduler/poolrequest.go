package scheduler

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/queue/pool"
	"vjob/scheduler/decide"
)

// SetPool states a pool: a new one, or other controls and another parent of a stated one. It is refused if the
// cluster or a pool cannot honour the reservations then, also those of vjobs that run. On an error nothing changes.
func (c *Core) SetPool(now time.Time, s pool.PoolStatement, by string) error {
	c.now = now
	return c.changePools(c.pools.set(now, s, by))
}

// DeletePool removes a stated pool. It is refused while vjobs use it, or pools are in it.
func (c *Core) DeletePool(now time.Time, name, by string) error {
	c.now = now
	return c.changePools(c.pools.remove(now, name, by))
}

// changePools asks for a decision after a change of the pools.
func (c *Core) changePools(err error) error {
	if err == nil {
		c.next.retry(c.now)
	}
	return err
}

// MoveVJob moves a vjob to another pool. It fails with ErrNotFound, with a *cluster.FieldError for an unknown pool or
// one that can never hold it, and with ErrConflict if it runs and the pool cannot hold it beside what runs there.
func (c *Core) MoveVJob(now time.Time, m PoolMove) error {
	c.now = now
	return c.pools.move(now, m)
}

// sameWeight is the CPU weight of VMs that nothing distinguishes: the default of cgroup v2.
const sameWeight = 100

// noteDivision keeps what VMs are entitled to, for status requests. When the cluster is no longer divided, all VMs
// weigh the same again: vjobs without weights in a decision keep those that they have.
func (c *Core) noteDivision(d *decide.Decision) {
	ends := c.last.division != nil && d.Division == nil
	c.last.division = d.Division
	if !ends {
		return
	}
	d.Weights = make(map[cluster.VJobID][]int, len(d.VJobs))
	for i := range d.VJobs {
		job := d.VJobs[i].Job
		d.Weights[job.ID] = slices.Repeat([]int{sameWeight}, len(job.VMs))
	}
}
