package reservation

import (
	"time"

	"vjob/queue"
)

// futureStarts are the moments at which reservations that are ahead begin, each with a room
// as it will be then: in it are those that run and keep their room until then, and the
// reservations. Whoever starts and keeps its room has to find places there as well, beside
// all of them and by all rules; who makes room does not count. All may be moved.
type futureStarts struct {
	list    []futureStart
	built   int          // how often
	started []*queue.Job // that keep their room, since the room is asked
}

// futureStart is one of them.
type futureStart struct {
	*entry
	at       time.Time
	capacity queue.Capacity
}

// Each opening packs the whole cluster. Of what begins later than the first ones there are
// only sums until its time comes nearer.
const (
	maxStarts = 32
	maxBuilt  = 4
)

// conflict reports whether a vjob that starts now would leave a reservation without places.
// If not, it is in the openings from now on.
func (o *futureStarts) conflict(b *decision, j *queue.Job) (short queue.Shortage, so bool) {
	if o.list == nil {
		o.build(b)
	}
	for i := range o.list {
		e := &o.list[i]
		if !lasts(j, e.at, b.Now) {
			continue
		}
		if ok, _ := e.capacity.Take(j.ID); !ok {
			o.reset()
			short = e.shortage(b.Now)
			short.Rule += ", which would find no places beside it"
			return short, true
		}
	}
	return short, false
}

// reset takes the last vjob out, that does not start after all. When that has happened too
// often, it stays in for this time, and others may have to wait for the next.
func (o *futureStarts) reset() {
	if o.built < maxBuilt {
		o.list = nil
	}
}

// build fills the rooms. One in which a reservation finds no places in any case keeps
// nobody from starting.
func (o *futureStarts) build(b *decision) {
	o.built++
	o.list = []futureStart{}
	for i := range b.entries {
		e := &b.entries[i]
		at := e.booking(b.Now).From
		if e.phase >= due || len(o.list) >= maxStarts {
			continue
		}
		room, fits := b.capacityAt(at), true
		for k := range b.Jobs {
			if j := &b.Jobs[k]; running(j) && b.keeps(j) && lasts(j, at, b.Now) {
				room.Take(j.ID)
			}
		}
		for k := range b.entries {
			if other := &b.entries[k]; other.covers(at, b.Now) {
				ok, _ := room.Take(other.ID)
				fits = fits && ok
			}
		}
		for _, j := range o.started {
			if lasts(j, at, b.Now) {
				room.Take(j.ID)
			}
		}
		if fits {
			o.list = append(o.list, futureStart{e, at, room})
		}
	}
}

// capacityAt is an empty room as it is at another moment.
func (b *decision) capacityAt(at time.Time) queue.Capacity {
	if b.CapacityAt != nil {
		return b.CapacityAt(at)
	}
	return b.empty()
}

// lasts reports whether a vjob that runs from now on may still do so at an instant.
func lasts(j *queue.Job, at, now time.Time) bool {
	left, ends := j.Left()
	return !ends || at.Before(now.Add(left))
}
