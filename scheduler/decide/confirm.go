package decide

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/queue"
	"vjob/queue/quota"
)

// Places lets a vjob that nobody has submitted be tried on the nodes beside others: each
// room that is given is empty.
func (p *View) Places(job *cluster.VJob) func() queue.Capacity {
	p.Add(job, len(p.VJobs))
	counts, line := needs(p.intended), ctxswitch.NewLine(p.applicants)
	return func() queue.Capacity {
		return ctxswitch.NewPacking(ctxswitch.Stock{
			Current: p.intended, Line: line, Rules: p.rules, Avoid: p.avoid, Pinned: p.immovable, Needs: counts,
		})
	}
}

// Limit says which quota a vjob would be over at an instant, beside those that run and may
// still do so then, and reservations; "" for none. Nil: there are no quotas.
func (p *View) Limit(job *cluster.VJob) func(at time.Time) string {
	rules := p.settings.OrderingRules()
	if rules.Quotas.Empty() {
		return nil
	}
	own := quotaJob(rules, &execute.Report{Job: job})
	return func(at time.Time) string {
		tally := rules.Quotas.Tally(at, p.past)
		for i := range p.VJobs {
			if r := &p.VJobs[i]; r.Job.ID != job.ID && p.runsAt(r, at) {
				other := quotaJob(rules, r)
				tally.Count(&other)
			}
		}
		return tally.Refuses(&own)
	}
}

// runsAt reports whether a vjob that runs may still do so at an instant, or one with a
// reservation is to.
func (p *View) runsAt(r *execute.Report, at time.Time) bool {
	left := max(0, r.Job.Walltime-r.Ran)
	if r.Bound == cluster.VMRunning {
		return r.Job.Walltime == 0 || at.Before(p.now.Add(left))
	}
	from := r.Job.Reservation
	return !from.IsZero() && r.Job.State.Ready() && !at.Before(from) && at.Before(from.Add(left))
}

// countDueReservations counts the reservations that have begun, whatever the quotas: that was settled
// when they were confirmed.
func (p *View) countDueReservations(tally *quota.Tally, index map[cluster.VJobID]*quota.Job) {
	for i := range p.VJobs {
		if job := p.VJobs[i].Job; p.reservationDue(job) {
			tally.Count(index[job.ID])
		}
	}
}
