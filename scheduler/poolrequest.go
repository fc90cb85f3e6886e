package scheduler

import (
	"time"

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

// applyWeights keeps what VMs are entitled to, for status requests. This is the place at which the CPU weights of a
// decision, by vjob and rank, are handed over to what sets them on the nodes; nil gives all VMs the same weight.
func (c *Core) applyWeights(d *decide.Decision) {
	c.last.division, c.last.weights = d.Division, d.Weights
}
