package scheduler

import (
	"vjob/cluster"
	"vjob/queue"
	"vjob/scheduler/decide"
)

// latecomers judges vjobs that come after a decision by what that has left. Most vjobs that come to a full cluster
// certainly wait: then they need no decision soon, and a burst of them costs next to nothing, however long the queue
// is.
type latecomers struct {
	room decide.Leftover
	// last is the last vjob in the queue order that runs; 0 for none. Those that come before it may take its place.
	last cluster.VJobID
	// yields: a best-effort vjob runs, which makes room for any that is not.
	yields bool
}

// newLatecomers returns what a decision leaves for vjobs that come later.
func newLatecomers(d *decide.Decision) *latecomers {
	l := &latecomers{room: d.Leftover()}
	for i := range d.VJobs {
		if job := d.VJobs[i].Job; d.Verdicts[i].Target == queue.Run && job.Inner == 0 {
			l.last, l.yields = job.ID, l.yields || job.BestEffort
		}
	}
	return l
}

// receive takes in what has changed since the last step and is no reason to decide at once: gangs that come and leave as planned
// while nothing waits for what they do, vjobs that certainly wait, and those that leave before they began. While a decision is
// taken beside the core, all of that waits to be judged by it.
func (c *Core) receive() {
	if c.deliberation != nil {
		return
	}
	if c.next.putOff(c.exec.Planned(), !c.last.open) {
		c.last.latest = nil // there may be more room now
	}
	for _, t := range c.VJobs.turnover {
		switch {
		case c.next.changed(t.at - 1): // something else has changed the room
		case t.left:
			c.judgeLeaver(t.job)
		default:
			c.judgeLatecomer(t.job)
		}
	}
	c.VJobs.turnover = c.VJobs.turnover[:0]
}

// judgeLatecomer judges a vjob that has come. One that certainly waits gets its verdict at once.
func (c *Core) judgeLatecomer(job *cluster.VJob) {
	asks := c.settings.Applicant(job)
	if !c.waitsCertainly(job, asks.Needs) {
		return
	}
	missing := c.last.latest.room.Missing(asks.Total)
	if c.addsNothing(job, missing) {
		c.next.seen++
		j := queue.Job{VJob: job, Need: asks.Total, Level: c.settings.OrderingRules().Level(job)}
		c.next.retry(queue.NextChange(c.settings.Policy, j, c.now))
	} else {
		c.next.patient++
	}
	c.last.putOff(job, c.reasonToWait(job, missing))
}

// judgeLeaver judges a vjob that has left before it began. It leaves no room, so others can wait for a decision, unless it
// was to start, was the first in line, or had a reservation or a slot.
func (c *Core) judgeLeaver(job *cluster.VJob) {
	verdict, known := c.last.verdicts.Get(job.ID)
	line := c.last.queueing.inOrder
	switch {
	case !known || verdict.Target != queue.Wait || len(line) > 0 && line[0] == job.ID:
	case job.Inner != 0 || job.Container || !job.Reservation.IsZero() || c.settings.Policy.Traits().Turns:
	case len(c.VJobs.dependencies.Waiting()) > 0:
	default:
		c.next.patient++
		c.last.leave(job.ID)
	}
}

// addsNothing reports whether a decision would add nothing to the verdict on a vjob that certainly waits: it is held, or
// the free capacity is too small in sum, so that no move makes room, and it comes behind so many that its start is not
// estimated.
func (c *Core) addsNothing(job *cluster.VJob, missing cluster.Resources) bool {
	if job.Held {
		return true
	}
	limited := job.BestEffort || !c.settings.OrderingRules().Quotas.Empty() || c.Pools.limit(job)
	return !limited && missing != cluster.Resources{} && len(c.last.queueing.inOrder) >= queue.MaxEstimates && c.comesLast(job)
}

// comesLast reports whether a vjob comes behind all that wait.
func (c *Core) comesLast(job *cluster.VJob) bool {
	line := c.last.queueing.inOrder
	return len(line) == 0 || c.VJobs.order.Before(line[len(line)-1], job.ID, c.now)
}

// waitsCertainly reports whether a vjob that has come would wait after a decision now, and no other one would start or
// stop for it.
func (c *Core) waitsCertainly(job *cluster.VJob, needs []cluster.Resources) bool {
	late, traits := c.last.latest, c.settings.Policy.Traits()
	switch {
	case late == nil:
		return false
	case job.Inner != 0 || job.Container || len(job.Shapes) > 0 || traits.Turns:
		return false
	case !job.NotBefore.IsZero() || !job.Reservation.IsZero() || len(job.After) > 0 || job.Replaces != 0:
		return false
	case job.Held || job.BestEffort:
	case late.yields || traits.Preempts && late.last != 0 && c.VJobs.order.Before(job.ID, late.last, c.now):
		return false
	}
	return job.Held || !late.room.MayHold(needs)
}

// reasonToWait returns why a vjob waits that has come to a full cluster. Where it comes last, it has its place in line.
func (c *Core) reasonToWait(job *cluster.VJob, missing cluster.Resources) string {
	if job.Held {
		return queue.WhyHeld(job)
	}
	why := "waits: " + queue.Shortage{Missing: missing}.String()
	if c.comesLast(job) {
		why += "; " + queue.Ordinal(len(c.last.queueing.inOrder)+1) + " in line"
	}
	return why
}
