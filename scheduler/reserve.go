package scheduler

import (
	"context"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/queue"
	"vjob/queue/reservation"
	"vjob/scheduler/admission"
)

// admit confirms what a submission claims at once, unless it repeats an earlier one. Until the vjob
// is written and known to the core, no other reservation may be confirmed.
func (l *Requests) admit(ctx context.Context, s *admission.Submission) error {
	if s.Key != "" {
		if known, err := l.store.Known(ctx, s.Owner, s.Key); known || err != nil {
			return err
		}
	}
	return l.inbox.ask(ctx, func(c *Core) error {
		if l.inbox.stale { // a reservation just confirmed may be missing
			return fmt.Errorf("confirm the reservation: %w", cluster.ErrUnavailable)
		}
		return c.Admit(l.now(), s)
	})
}

// Admit returns why a submission cannot have what it claims at once: its reservation, or its places
// inside a container. The error names the field.
func (c *Core) Admit(now time.Time, s *admission.Submission) error {
	switch {
	case s.Inner != 0:
		return admitInside(c.exec, s)
	case !s.Reservation.IsZero():
		return c.confirm(now, s)
	default:
		return nil
	}
}

// confirm returns why a reservation cannot be given beside the others.
func (c *Core) confirm(now time.Time, s *admission.Submission) error {
	r := reservation.Request{Now: now, Horizon: c.settings.Reservations.Horizon, Booking: queue.Booking{From: s.Reservation, Length: s.Walltime}}
	for i := range s.VMs {
		r.Need = r.Need.Plus(s.VMs[i].Reserved)
	}
	v, last := c.vary(now), cluster.VJobID(0)
	for _, n := range c.exec.Nodes() { // nodes that are off are woken in time
		_ = v.SetNodeState(n.ID, n.State) // it was just listed
		if n.Hosts() {
			r.Total = r.Total.Plus(n.Capacity)
		}
	}
	for _, report := range c.exec.Jobs() {
		last = max(last, report.Job.ID)
		if report.Job.Inner != 0 {
			continue // its container counts
		}
		job := queue.Job{VJob: report.Job, Ran: report.Ran, Need: report.Job.Reserved()}
		left, _ := job.Left()
		runs := report.Bound == cluster.VMRunning
		switch {
		case !job.Reservation.IsZero() && (runs || !job.Held || job.Reservation.After(now)):
			b := queue.Booking{VJob: job.ID, From: job.Reservation, Length: left, Need: job.Need}
			if runs || b.From.Before(now) {
				b.From = now
			}
			r.Others = append(r.Others, b)
		case job.Reservation.IsZero() && runs && c.settings.Keeps(job.VJob):
			r.NonPreemptible = append(r.NonPreemptible, job)
		}
	}
	job := s.VJob(last + 1)
	claim := v.Claim(job, c.Power.policy != nil)
	r.VJob, r.Ruled, r.Capacity = job.ID, job.Rules != "", claim.Capacity()
	r.Limit, r.Power, r.NextChange = claim.Quota(), claim.Power(), claim.NextChange
	return r.Confirm()
}
