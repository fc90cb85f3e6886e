package execute

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
)

// clock is how long a vjob has run.
type clock struct {
	ran     time.Duration // as far as it counts towards the walltime
	crowded time.Duration // running time that does not count: see [accounts.updateCrowding]
	short   int           // how many of its VMs are short of CPU on crowded nodes
	marked  time.Time     // the account is complete up to this time
	phase   gang.Phase    // since marked
}

// ranAt is the running time up to an instant, as far as it counts towards the walltime.
func (c *clock) ranAt(job *cluster.VJob, now time.Time) time.Duration {
	if c.phase == gang.Active {
		return c.ran + c.counts(job, now.Sub(c.marked))
	}
	return c.ran
}

// crowdedAt is the running time up to an instant that does not count.
func (c *clock) crowdedAt(job *cluster.VJob, now time.Time) time.Duration {
	if c.phase == gang.Active {
		dt := now.Sub(c.marked)
		return c.crowded + dt - c.counts(job, dt)
	}
	return c.crowded
}

// counts is how much of a running time since the last account counts towards the walltime.
func (c *clock) counts(job *cluster.VJob, dt time.Duration) time.Duration {
	if c.short == 0 {
		return dt
	}
	return max(0, dt-c.grace(job))
}

// grace is for how much longer the walltime of a vjob may be stopped because its nodes are crowded. In all
// that is the length of the walltime, or [leastGrace] if that is more. Vjobs with a reservation have no
// grace, since their room is promised to others afterwards.
func (c *clock) grace(job *cluster.VJob) time.Duration {
	if !job.Reservation.IsZero() {
		return 0
	}
	return max(0, max(job.Walltime, leastGrace)-c.crowded)
}

// leastGrace is for how long short vjobs may have to wait on crowded nodes for one context
// switch after the other.
const leastGrace = 10 * time.Minute

// end is when the walltime of a running vjob is over if its nodes stay as crowded as they are;
// zero without a walltime.
func (c *clock) end(job *cluster.VJob) time.Time {
	if job.Walltime <= 0 {
		return time.Time{}
	}
	at := c.marked.Add(job.Walltime - c.ran)
	if c.short > 0 {
		at = at.Add(c.grace(job))
	}
	return at
}
