package reservation

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/queue"
	"vjob/queue/availability"
)

// reservedCapacity is capacity that contains vjobs with protected capacity and reservations.
type reservedCapacity struct {
	queue.Capacity
	decision *decision
	taken    map[cluster.VJobID]result // of vjobs that place has added
	later    *availability.Profile     // beside vjobs that keep theirs and reservations
	// next is the first reservation for which vjobs are suspended; nil: none. idle is what is free
	// beside these reservations and all vjobs that have not left yet: no other vjob starts where
	// some have to be suspended first.
	next *reservedJob
	idle cluster.Resources
	// soon is as later without distant reservations and with vjobs that may be suspended. nearUntil is
	// the start of the last reservation for which vjobs are suspended, horizonAt that of the last
	// before which no vjob starts that would have to be suspended.
	soon                 *availability.Profile
	nearUntil, horizonAt time.Time
	starts               futureStarts
	horizon              suspensionHorizon
}

// result is what Take returned.
type result struct {
	ok    bool
	short queue.Shortage
}

// capacity returns capacity that contains, in this order, vjobs that keep theirs, reservations that
// should run, and those for which vjobs are suspended.
func (b *decision) capacity() *reservedCapacity {
	r := &reservedCapacity{
		Capacity: b.empty(), decision: b, taken: map[cluster.VJobID]result{},
		later: availability.New(b.Now, b.Total, cluster.Resources{}), soon: availability.New(b.Now, b.Total, cluster.Resources{}), idle: b.Total,
	}
	for i := range b.Jobs {
		j := &b.Jobs[i]
		if running(j) && b.keeps(j) {
			r.place(j)
		}
		if j.Busy || j.State == cluster.Running {
			r.idle = r.idle.Minus(j.Need)
		}
	}
	for _, p := range []phase{due, near, ahead} {
		for i := range b.entries {
			e := &b.entries[i]
			if e.phase != p {
				continue
			}
			if p != ahead {
				r.addNear(e)
			}
			if p != ahead && r.place(e.Job) && p == due {
				continue
			}
			booking := e.booking(b.Now)
			r.later.Book(booking.From, booking.Need, booking.Length)
			if p != ahead || !booking.From.After(b.Now.Add(b.leads.Start)) {
				r.soon.Book(booking.From, booking.Need, booking.Length)
				r.horizonAt = cluster.Later(r.horizonAt, booking.From)
			}
		}
	}
	return r
}

func (r *reservedCapacity) addNear(e *reservedJob) {
	from := e.booking(r.decision.Now).From
	r.idle, r.nearUntil, r.horizonAt = r.idle.Minus(e.Need), cluster.Later(r.nearUntil, from), cluster.Later(r.horizonAt, from)
	if r.next == nil {
		r.next = e
	}
}

// keeps reports whether a running vjob keeps its capacity until its end.
func (b *decision) keeps(j *queue.Job) bool {
	return !j.Reservation.IsZero() || j.NonPreemptible != "" || queue.Preemptible{Policy: b.policy}.Keeps(j.VJob)
}

// place adds a vjob before all others. One that does not wait for its reservation occupies capacity
// from now on.
func (r *reservedCapacity) place(j *queue.Job) bool {
	ok, short := r.Capacity.Take(j.ID)
	r.taken[j.ID] = result{ok, short}
	if running(j) || ok && !r.decision.Now.Before(j.Reservation) {
		r.occupy(j)
	}
	return ok
}

func (r *reservedCapacity) occupy(j *queue.Job) {
	left, ends := j.Left()
	r.later.Occupy(j.Need, left, ends)
	r.soon.Occupy(j.Need, left, ends)
}

// Take implements [queue.Capacity].
func (r *reservedCapacity) Take(id cluster.VJobID) (ok bool, short queue.Shortage) {
	if a, placed := r.taken[id]; placed {
		return a.ok, a.short
	}
	j, known := r.decision.jobs[id]
	if !known {
		return r.Capacity.Take(id)
	}
	starts, keeps := !running(j), r.decision.keeps(j)
	if starts && r.next != nil && !j.Need.Fits(r.idle) {
		return false, r.next.shortage(r.decision.Now)
	}
	if keeps {
		if short, runsInto := r.conflict(j); starts && runsInto {
			return false, short
		}
	} else if e := r.mustSuspendFor(j, starts); e != nil {
		r.decision.preempted[id] = true
		return false, e.shortage(r.decision.Now)
	} else if starts {
		if e := r.horizon.conflict(r, j); e != nil {
			return false, e.shortage(r.decision.Now)
		}
	}
	switch ok, short = r.Capacity.Take(id); {
	case ok:
		r.onTaken(j, starts, keeps)
	case starts && keeps:
		r.starts.reset()
	case starts:
		r.horizon.reset()
	}
	return ok, short
}

func (r *reservedCapacity) onTaken(j *queue.Job, starts, keeps bool) {
	switch {
	case keeps:
		r.occupy(j)
	case !r.horizonAt.IsZero():
		r.soon.Occupy(j.Need, r.horizonAt.Sub(r.decision.Now)+time.Second, true)
	}
	r.horizon.onTaken(j)
	if starts {
		r.idle = r.idle.Minus(j.Need)
	}
	if starts && keeps {
		r.starts.started = append(r.starts.started, j)
	}
}

// mustSuspendFor returns the reservation for which a vjob has to be suspended, or before which it
// should not start; nil: none.
func (r *reservedCapacity) mustSuspendFor(j *queue.Job, starts bool) *reservedJob {
	until, now := r.nearUntil, r.decision.Now
	if starts {
		until = r.horizonAt
	}
	if until.IsZero() {
		return nil
	}
	at, _, lacks := r.soon.FirstShortage(now, until.Sub(now)+time.Second, j.Need)
	if !lacks || !at.After(now) {
		return nil
	}
	for i := range r.decision.entries {
		if e := &r.decision.entries[i]; e.covers(at, now) {
			return e
		}
	}
	return nil
}

// shortage is that of a vjob in conflict with the reservation.
func (e *reservedJob) shortage(now time.Time) queue.Shortage {
	return queue.Shortage{Rule: fmt.Sprintf("the reservation of vjob %s at %s", e.ID, cluster.Clock(e.Reservation, now))}
}

// endless is longer than any vjob runs.
const endless = 100 * 365 * 24 * time.Hour

// conflict returns what would be missing for a reservation if a vjob started now; so: it would.
func (r *reservedCapacity) conflict(j *queue.Job) (short queue.Shortage, so bool) {
	left, ends := j.Left()
	if !ends {
		left = endless
	}
	now := r.decision.Now
	overlaps := false
	for i := range r.decision.entries {
		e := &r.decision.entries[i]
		overlaps = overlaps || e.phase != runs && e.booking(now).From.Before(now.Add(left))
	}
	if !overlaps {
		return short, false
	}
	at, free, lacks := r.later.FirstShortage(now, left, j.Need)
	if !lacks {
		return r.starts.conflict(r.decision, j)
	}
	for i := range r.decision.entries {
		if e := &r.decision.entries[i]; e.covers(at, now) {
			return e.shortage(now), true
		}
	}
	missing := j.Need.Minus(free)
	return queue.Shortage{Missing: cluster.Resources{CPU: max(0, missing.CPU), Memory: max(0, missing.Memory)}}, true
}
