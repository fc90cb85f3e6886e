package decide

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/queue"
	"vjob/queue/quota"
)

// Places adds a vjob that was not submitted and returns a function that makes empty packings
// of the cluster, to try the vjob beside others.
func (p *View) Places(job *cluster.VJob) func() queue.Capacity {
	p.Add(job, len(p.VJobs))
	counts, line := needs(p.intended), ctxswitch.NewApplicantQueue(p.applicants)
	return func() queue.Capacity {
		return ctxswitch.NewPacking(ctxswitch.PackingInput{
			Current: p.intended, Applicants: line, Rules: p.rules, Avoid: p.avoid, Pinned: p.immovable, Needs: counts,
		})
	}
}

// Limit returns a function that names the quota a vjob would exceed at an instant, beside
// reservations and the running vjobs that may still run then; "" for none. It returns nil if
// there are no quotas.
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

// runsAt reports whether a running vjob may still run at an instant, or whether the
// reservation of a vjob covers it.
func (p *View) runsAt(r *execute.Report, at time.Time) bool {
	left := max(0, r.Job.Walltime-r.Ran)
	if r.Bound == cluster.VMRunning {
		return r.Job.Walltime == 0 || at.Before(p.now.Add(left))
	}
	from := r.Job.Reservation
	return !from.IsZero() && r.Job.State.Ready() && !at.Before(from) && at.Before(from.Add(left))
}

// countDueReservations counts the reservations that have begun whatever the quotas say: quotas
// are checked when a reservation is confirmed.
func (p *View) countDueReservations(tally *quota.Tally, index map[cluster.VJobID]*quota.Job) {
	for i := range p.VJobs {
		if job := p.VJobs[i].Job; p.reservationDue(job) {
			tally.Count(index[job.ID])
		}
	}
}
