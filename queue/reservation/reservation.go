// Package reservation keeps room for vjobs that have it from an instant on. It stands
// before any policy: [Select] decides on the vjobs with a reservation, and lets the
// policy decide on the others in a room in which theirs is taken.
//
// Who keeps its room until its end, because its policy suspends nobody or because it
// never yields, is not started if it would run into a reservation. Who makes room is
// started, and suspended early enough that the reservation begins in time.
//
// Sums over time say who would run into a reservation, and rooms of the moments at which
// they begin whether it leaves them places, if all that run may be moved; the planner
// moves them when the time has come.
//
// It is pure. It refuses to know how long a suspension takes, and who may reserve.
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
	ahead phase = iota // nobody makes room yet
	near               // room is being made
	due                // it should run
	runs               // it does, or is under way to
)

// entry is one reservation.
type entry struct {
	*queue.Job
	place int // among the jobs of the moment
	phase phase
}

// covers reports whether an instant lies in the time of a reservation that does not run.
func (e *entry) covers(at, now time.Time) bool {
	b := e.booking(now)
	return e.phase != runs && b.Covers(at)
}

// booking is the room that it needs yet. One that is late needs it from now on.
func (e *entry) booking(now time.Time) queue.Booking {
	b := queue.Booking{VJob: e.ID, From: e.Reservation, Need: e.Need}
	if b.From.Before(now) {
		b.From = now
	}
	b.Length, _ = e.Left()
	return b
}

// Leads are how long before a reservation it is made sure that it has its room.
type Leads struct {
	Park time.Duration // vjobs that run are suspended for it
	// Start is how long before none is started that would have to be. It should be longer
	// than Park ever gets, or else those that were suspended would be resumed at once.
	Start time.Duration
}

// Select is what a policy decides beside the reservations.
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

// decision is the reservations of a moment.
type decision struct {
	*queue.Input
	empty     func() queue.Capacity
	policy    queue.Policy
	leads     Leads
	entries   []entry // by their date, then by ID
	jobs      map[cluster.VJobID]*queue.Job
	preempted map[cluster.VJobID]bool // they had to go for a reservation
}

func newDecision(p queue.Policy, m *queue.Input, leads Leads) *decision {
	b := &decision{Input: m, empty: m.Capacity, policy: p, leads: leads, preempted: map[cluster.VJobID]bool{}}
	for i := range m.Jobs {
		j := &m.Jobs[i]
		if phase, counts := b.phase(j); counts {
			b.entries = append(b.entries, entry{j, i, phase})
		}
	}
	if len(b.entries) == 0 {
		return b
	}
	slices.SortFunc(b.entries, func(a, o entry) int {
		return cmp.Or(a.Reservation.Compare(o.Reservation), cmp.Compare(a.ID, o.ID))
	})
	b.jobs = make(map[cluster.VJobID]*queue.Job, len(m.Jobs))
	for i := range m.Jobs {
		b.jobs[m.Jobs[i].ID] = &m.Jobs[i]
	}
	return b
}

// phase tells how near the reservation of a vjob is. It reports false if no room is kept
// for it: it has none, is over, on its way out, or held although it has begun.
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
	case !b.Now.Before(j.Reservation.Add(-b.leads.Park)):
		return near, true
	default:
		return ahead, true
	}
}

// running reports whether a vjob runs and may, or is under way to.
func running(j *queue.Job) bool {
	if j.Busy {
		return j.Bound == queue.Run
	}
	return j.State == cluster.Running && !j.Held
}

// verdict decides on a vjob with a reservation; it reports false where that is settled
// for all vjobs alike, such as for those that are held.
func (b *decision) verdict(e *entry, fits result) (v queue.Verdict, decided bool) {
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
	} else if b.leads.Park > 0 {
		v.Again = e.Reservation.Add(-b.leads.Park)
	}
	return v, true
}

// explain tells those that are suspended for whose reservation it may be.
func (b *decision) explain(verdicts []queue.Verdict) {
	i := slices.IndexFunc(b.entries, func(e entry) bool { return e.phase == near || e.phase == due })
	if i < 0 {
		return
	}
	e := &b.entries[i]
	whose := fmt.Sprintf("the reservation of vjob %s at %s", e.ID, cluster.Clock(e.Reservation, b.Now))
	for k := range verdicts {
		switch j, v := &b.Jobs[k], &verdicts[k]; {
		case v.Target != queue.Suspend || j.Busy || j.Held:
		case b.preempted[j.ID]:
			v.Reason = "suspended to make room for " + whose
		default:
			v.Reason += "; room is made for " + whose
		}
	}
}
