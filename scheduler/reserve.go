package scheduler

import (
	"context"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/queue"
	"vjob/queue/reservation"
)

// Reserving says how vjobs may reserve room.
type Reserving struct {
	Horizon time.Duration // how far ahead a reservation may begin; 0: however far
	// Margin is how much earlier than it would have to others make room for a
	// reservation.
	Margin time.Duration
}

// validateReservation refuses what does not go with a reservation.
func (s *Submission) validateReservation() error {
	if s.Reservation.IsZero() {
		return nil
	}
	switch {
	case len(s.Array) > 0:
		return cluster.BadField("array", len(s.Array), "no array beside a reservation: one vjob has it")
	case len(s.Shapes) > 0:
		return cluster.BadField("shapes", len(s.Shapes), "no alternatives beside a reservation: it is one shape that is reserved")
	case len(s.After) > 0:
		return cluster.BadField("after", len(s.After), "no dependencies beside a reservation: it begins at its time")
	case s.BestEffort:
		return cluster.BadField("best_effort", true, "false beside a reservation: best-effort vjobs have no room of their own")
	}
	return nil
}

// confirm makes sure that there is room for the reservation of a submission, unless it
// repeats an earlier one. Until the vjob is written and known to the core, no other
// reservation may be confirmed.
func (l *Loop) confirm(ctx context.Context, s *Submission) error {
	if s.Key != "" {
		if known, err := l.store.Known(ctx, s.Owner, s.Key); known || err != nil {
			return err
		}
	}
	return l.ask(ctx, func(c *Core) error {
		if l.stale { // one that was just confirmed may be missing
			return fmt.Errorf("confirm the reservation: %w", cluster.ErrUnavailable)
		}
		return c.confirm(l.now(), s)
	})
}

// confirm says why a reservation cannot be given beside those that there are.
func (c *Core) confirm(now time.Time, s *Submission) error {
	c.now = now
	r := reservation.Request{Now: now, Horizon: c.settings.Reserving.Horizon, Booking: queue.Booking{From: s.Reservation, Length: s.Walltime}}
	for i := range s.VMs {
		r.Need = r.Need.Plus(s.VMs[i].Reserved)
	}
	for _, n := range c.exec.Nodes() {
		if n.Hosts() {
			r.Total = r.Total.Plus(n.Capacity)
		}
	}
	for _, report := range c.exec.Jobs() {
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
		case job.Reservation.IsZero() && runs && c.settings.keeps(job.VJob):
			r.Kept = append(r.Kept, job)
		}
	}
	return r.Confirm()
}

// keeps reports whether a vjob that runs keeps its room until its end.
func (s *Settings) keeps(j *cluster.VJob) bool {
	return queue.Yielding{Policy: s.Policy}.Keeps(j)
}

// leads are how long before a reservation vjobs have to be suspended for it: as long as
// it takes to suspend all that make room on the busiest node, and the margin. Nobody is
// started for less than a whole node takes. They are 0 if nothing is reserved.
func (s *Settings) leads(p *picture) reservation.Leads {
	if !p.reserved() {
		return reservation.Leads{}
	}
	at := map[cluster.NodeID]time.Duration{}
	for i := range p.reports {
		r := &p.reports[i]
		stands := r.Job.State == cluster.Paused // its memory has to be saved as well
		if r.Job.State != cluster.Running && !stands || !r.Job.Reservation.IsZero() || s.keeps(r.Job) {
			continue
		}
		for k := range r.Job.VMs {
			if node := p.current.Place(r.Job.VMs[k].ID); node != "" {
				at[node] += s.suspension(r.Job.VMs[k].Reserved.Memory)
			}
		}
	}
	var busiest, whole time.Duration
	for _, n := range p.current.Nodes() {
		busiest, whole = max(busiest, at[n.ID]), max(whole, at[n.ID], s.suspension(n.Capacity.Memory))
	}
	if len(at) > 0 {
		busiest += s.Reserving.Margin
	}
	return reservation.Leads{Park: busiest, Start: whole + s.Reserving.Margin}
}

// suspension is how long so much memory takes, if as many transfers go on at once as may.
func (s *Settings) suspension(memory cluster.MiB) time.Duration {
	return s.Execute.Costs.Duration(cluster.Suspend, memory, false) / time.Duration(max(1, s.Execute.Transfers))
}

// reserved reports whether a vjob waits for its reservation.
func (p *picture) reserved() bool {
	for i := range p.reports {
		if job := p.reports[i].Job; !job.Reservation.IsZero() && job.State.Ready() {
			return true
		}
	}
	return false
}

// tellLate tells once of each reservation that has begun and cannot start.
func (c *Core) tellLate(p *picture, verdicts []queue.Verdict) {
	late := map[cluster.VJobID]bool{}
	for i, r := range p.reports {
		job := r.Job
		if job.Reservation.IsZero() || !job.State.Ready() || job.Held || job.Reservation.After(p.now) || verdicts[i].Wish == queue.Run {
			continue
		}
		if late[job.ID] = true; !c.late[job.ID] {
			c.alarm(job.ID, fmt.Sprintf("vjob %s cannot start at the time of its reservation: it %s", job.ID, verdicts[i].Reason))
		}
	}
	c.late = late
}
