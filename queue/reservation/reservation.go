// Package reservation keeps capacity for vjobs that have a reservation. [Select] wraps a policy: it
// decides on these vjobs, and the policy decides on all others with the capacity that is left.
//
// A vjob that keeps its capacity until its end, because its policy does not preempt or by its own
// terms, is not started if it would overlap a reservation that needs its capacity. Other vjobs are
// started, and suspended early enough for the reservation to begin in time.
//
// Sums over time find overlaps, and placements at the starts of reservations tell whether each has
// places if all running VMs may be moved; the planner moves them in time.
package reservation

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/queue"
)

// phase is how near a reservation is.
type phase uint8

const (
	ahead phase = iota // no vjob is suspended for it yet
	near               // vjobs are suspended for it
	due                // it should run
	runs               // it runs or is under way to
)

// reservedJob is one reservation.
type reservedJob struct {
	*queue.Job
	place int // index in the jobs
	phase phase
}

// covers reports whether a reservation that does not run includes an instant.
func (e *reservedJob) covers(at, now time.Time) bool {
	b := e.booking(now)
	return e.phase != runs && b.Covers(at)
}

// booking returns the capacity that it still needs; from now on if it is late.
func (e *reservedJob) booking(now time.Time) queue.Booking {
	b := queue.Booking{VJob: e.ID, From: e.Reservation, Need: e.Need}
	if b.From.Before(now) {
		b.From = now
	}
	b.Length, _ = e.Left()
	return b
}

// Leads are how long before a reservation its capacity is secured.
type Leads struct {
	Suspend time.Duration // running vjobs are suspended this early
	// Start is how long before a reservation no vjob is started that would have to be suspended for
	// it. It should exceed Suspend: otherwise suspended vjobs would be resumed at once.
	Start time.Duration
}

// Select returns the verdicts of a policy that leaves the capacity of reservations.
func Select(p queue.Policy, m *queue.Input, leads Leads) []queue.Verdict {
	b := newDecision(p, m, leads)
	if len(b.entries) == 0 {
		return p.Select(m)
	}
	inner := *m
	inner.Jobs, inner.Capacity = slices.Clone(m.Jobs), func() queue.Capacity { return b.capacity() }
	first := b.capacity()
	for i := range b.entries {
		e := &b.entries[i]
		fits := first.taken[e.ID]
		if v, decided := b.verdict(e, fits); decided {
			inner.Jobs[e.place].Fixed = &v
		}
		if e.phase < due || e.phase == due && !fits.ok {
			inner.Booked = append(inner.Booked, e.booking(m.Now))
		}
		inner.Urgent = inner.Urgent || e.phase == near || e.phase == due
	}
	verdicts := p.Select(&inner)
	b.explain(verdicts)
	return verdicts
}

// decision is the reservations of one input.
type decision struct {
	*queue.Input
	empty     func() queue.Capacity
	policy    queue.Policy
	leads     Leads
	entries   []reservedJob // by their date, then by ID
	jobs      map[cluster.VJobID]*queue.Job
	preempted map[cluster.VJobID]bool // suspended for a reservation
}

func newDecision(p queue.Policy, m *queue.Input, leads Leads) *decision {
	b := &decision{Input: m, empty: m.Capacity, policy: p, leads: leads, preempted: map[cluster.VJobID]bool{}}
	for i := range m.Jobs {
		j := &m.Jobs[i]
		if phase, counts := b.phase(j); counts {
			b.entries = append(b.entries, reservedJob{j, i, phase})
		}
	}
	if len(b.entries) == 0 {
		return b
	}
	slices.SortFunc(b.entries, func(a, o reservedJob) int {
		return cmp.Or(a.Reservation.Compare(o.Reservation), cmp.Compare(a.ID, o.ID))
	})
	b.jobs = make(map[cluster.VJobID]*queue.Job, len(m.Jobs))
	for i := range m.Jobs {
		b.jobs[m.Jobs[i].ID] = &m.Jobs[i]
	}
	return b
}

// phase returns how near the reservation of a vjob is. It reports false if none needs capacity: the
// vjob has none, is over, is on its way out, or is held although it has begun.
func (b *decision) phase(j *queue.Job) (p phase, counts bool) {
	switch {
	case j.Reservation.IsZero() || j.State.Terminal():
		return 0, false
	case running(j):
		return runs, true
	case j.Busy:
		return 0, false
	case !b.Now.Before(j.Reservation):
		return due, !j.Held
	case !b.Now.Before(j.Reservation.Add(-b.leads.Suspend)):
		return near, true
	default:
		return ahead, true
	}
}

// running reports whether a vjob runs and may go on, or is under way to run.
func running(j *queue.Job) bool {
	if j.Busy {
		return j.Bound == queue.Run
	}
	return j.State == cluster.Running && !j.Held
}

// verdict decides on a vjob with a reservation. It reports false where that is the same for all
// vjobs, such as held ones.
func (b *decision) verdict(e *reservedJob, fits result) (v queue.Verdict, decided bool) {
	switch {
	case e.Busy || e.Held || e.Ineligible != "" && e.phase != runs:
		return v, false
	case e.phase == runs:
		return queue.Verdict{Target: queue.Run, Reason: "runs: its room is reserved"}, true
	case e.phase == due && fits.ok:
		return queue.Verdict{Target: queue.Run, Reason: "runs: its reservation begins"}, true
	case e.phase == due:
		return queue.Verdict{Reason: fmt.Sprintf("waits: its reservation began at %s, but it cannot start: %s",
			cluster.Clock(e.Reservation, b.Now), fits.short)}, true
	}
	v = queue.Verdict{Start: e.Reservation, Again: e.Reservation, Reason: fmt.Sprintf("waits for its reservation at %s, in %s",
		cluster.Clock(e.Reservation, b.Now), e.Reservation.Sub(b.Now).Round(time.Second))}
	if e.phase == near {
		v.Reason += ", for which room is being made"
	} else if b.leads.Suspend > 0 {
		v.Again = e.Reservation.Add(-b.leads.Suspend)
	}
	return v, true
}

// explain adds the reservation to the reasons of suspended vjobs.
func (b *decision) explain(verdicts []queue.Verdict) {
	i := slices.IndexFunc(b.entries, func(e reservedJob) bool { return e.phase == near || e.phase == due })
	if i < 0 {
		return
	}
	e := &b.entries[i]
	purpose := fmt.Sprintf("the reservation of vjob %s at %s", e.ID, cluster.Clock(e.Reservation, b.Now))
	for k := range verdicts {
		switch j, v := &b.Jobs[k], &verdicts[k]; {
		case v.Target != queue.Suspend || j.Busy || j.Held:
		case b.preempted[j.ID]:
			v.Reason = "suspended to make room for " + purpose
			v.Cause = &cluster.Cause{Kind: cluster.CauseReservation, VJobs: []cluster.VJobRef{e.Ref()}, Text: "at " + cluster.Clock(e.Reservation, b.Now)}
		default:
			v.Reason += "; room is made for " + purpose
		}
	}
}
