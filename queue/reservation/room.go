package reservation

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/queue"
	"vjob/queue/availability"
)

// room is a room in which those are placed before all others whose room is kept.
type room struct {
	queue.Capacity
	book  *book
	taken map[cluster.VJobID]answer // of those that were placed so
	later *availability.Profile     // beside all that keep their room, and what is reserved
	// next is the first reservation for which room is being made; nil: for none. Idle is what
	// is free beside these reservations and all that have not left their room yet: nobody
	// else is started where somebody has to make room first.
	next *entry
	idle cluster.Resources
	// Soon is as later, but for reservations that are further ahead, and with those that
	// make room. Near is when the last reservation begins for which room is being made, eve
	// that of the last before which nobody starts who would have to make room.
	soon      *availability.Profile
	near, eve time.Time
	openings  openings
	evening   eve
}

// answer is that of the room.
type answer struct {
	ok    bool
	short queue.Shortage
}

// room places those that keep their room, then the reservations that should run, then
// those for which room is being made.
func (b *book) room() *room {
	r := &room{
		Capacity: b.empty(), book: b, taken: map[cluster.VJobID]answer{},
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
				r.urge(e)
			}
			if p != ahead && r.place(e.Job) && p == due {
				continue
			}
			booking := e.booking(b.Now)
			r.later.Book(booking.From, booking.Need, booking.Length)
			if p != ahead || !booking.From.After(b.Now.Add(b.leads.Start)) {
				r.soon.Book(booking.From, booking.Need, booking.Length)
				r.eve = later(r.eve, booking.From)
			}
		}
	}
	return r
}

func (r *room) urge(e *entry) {
	from := e.booking(r.book.Now).From
	r.idle, r.near, r.eve = r.idle.Minus(e.Need), later(r.near, from), later(r.eve, from)
	if r.next == nil {
		r.next = e
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// keeps reports whether a vjob that runs keeps its room until its end.
func (b *book) keeps(j *queue.Job) bool {
	return !j.Reservation.IsZero() || j.NonPreemptible != "" || queue.Preemptible{Policy: b.policy}.Keeps(j.VJob)
}

// place gives a vjob its room before others; one that does not wait for it occupies it
// from now on.
func (r *room) place(j *queue.Job) bool {
	ok, short := r.Capacity.Take(j.ID)
	r.taken[j.ID] = answer{ok, short}
	if running(j) || ok && !r.book.Now.Before(j.Reservation) {
		r.occupy(j)
	}
	return ok
}

func (r *room) occupy(j *queue.Job) {
	left, ends := j.Left()
	r.later.Occupy(j.Need, left, ends)
	r.soon.Occupy(j.Need, left, ends)
}

// Take implements [queue.Capacity].
func (r *room) Take(id cluster.VJobID) (ok bool, short queue.Shortage) {
	if a, placed := r.taken[id]; placed {
		return a.ok, a.short
	}
	j, known := r.book.jobs[id]
	if !known {
		return r.Capacity.Take(id)
	}
	starts, keeps := !running(j), r.book.keeps(j)
	if starts && r.next != nil && !j.Need.Fits(r.idle) {
		return false, r.next.inTheWay(r.book.Now)
	}
	if keeps {
		if short, runsInto := r.runsInto(j); starts && runsInto {
			return false, short
		}
	} else if e := r.hasToGo(j, starts); e != nil {
		r.book.sent[id] = true
		return false, e.inTheWay(r.book.Now)
	} else if starts {
		if e := r.evening.runsInto(r, j); e != nil {
			return false, e.inTheWay(r.book.Now)
		}
	}
	switch ok, short = r.Capacity.Take(id); {
	case ok:
		r.took(j, starts, keeps)
	case starts && keeps:
		r.openings.withdraw()
	case starts:
		r.evening.withdraw()
	}
	return ok, short
}

func (r *room) took(j *queue.Job, starts, keeps bool) {
	switch {
	case keeps:
		r.occupy(j)
	case !r.eve.IsZero():
		r.soon.Occupy(j.Need, r.eve.Sub(r.book.Now)+time.Second, true)
	}
	r.evening.took(j)
	if starts {
		r.idle = r.idle.Minus(j.Need)
	}
	if starts && keeps {
		r.openings.started = append(r.openings.started, j)
	}
}

// hasToGo is the reservation for which a vjob that makes room has to: because it is near,
// or because it is not worth while to start before it. It is nil if there is none.
func (r *room) hasToGo(j *queue.Job, starts bool) *entry {
	until, now := r.near, r.book.Now
	if starts {
		until = r.eve
	}
	if until.IsZero() {
		return nil
	}
	at, _, lacks := r.soon.Least(now, until.Sub(now)+time.Second, j.Need)
	if !lacks || !at.After(now) {
		return nil
	}
	for i := range r.book.entries {
		if e := &r.book.entries[i]; e.covers(at, now) {
			return e
		}
	}
	return nil
}

// inTheWay is the shortage of those for whom a reservation leaves no room.
func (e *entry) inTheWay(now time.Time) queue.Shortage {
	return queue.Shortage{Rule: fmt.Sprintf("the reservation of vjob %s at %s", e.ID, cluster.Clock(e.Reservation, now))}
}

// forGood is longer than anything runs that has no walltime.
const forGood = 100 * 365 * 24 * time.Hour

// runsInto reports whether a vjob that starts now would lack room that a reservation
// needs before it ends.
func (r *room) runsInto(j *queue.Job) (short queue.Shortage, so bool) {
	left, ends := j.Left()
	if !ends {
		left = forGood
	}
	now := r.book.Now
	overlaps := false
	for i := range r.book.entries {
		e := &r.book.entries[i]
		overlaps = overlaps || e.phase != runs && e.booking(now).From.Before(now.Add(left))
	}
	if !overlaps {
		return short, false
	}
	at, free, lacks := r.later.Least(now, left, j.Need)
	if !lacks {
		return r.openings.runsInto(r.book, j)
	}
	for i := range r.book.entries {
		if e := &r.book.entries[i]; e.covers(at, now) {
			return e.inTheWay(now), true
		}
	}
	missing := j.Need.Minus(free)
	return queue.Shortage{Missing: cluster.Resources{CPU: max(0, missing.CPU), Memory: max(0, missing.Memory)}}, true
}
