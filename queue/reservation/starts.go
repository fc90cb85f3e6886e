package reservation

import (
	"time"

	"vjob/queue"
)

// futureStarts are the starts of distant reservations, each with the capacity at that instant: it
// contains running vjobs that keep theirs until then, and the reservations. A vjob that starts and keeps
// its capacity must be placed there too, by all rules; all VMs may be moved.
type futureStarts struct {
	list    []futureStart
	built   int          // how often
	started []*queue.Job // that keep their capacity
}

// futureStart is one of them.
type futureStart struct {
	*reservedJob
	at       time.Time
	capacity queue.Capacity
}

// Each start packs the whole cluster. Later ones are checked by sums until they are nearer.
const (
	maxStarts = 32
	maxBuilt  = 4
)

// conflict reports whether a reservation could not be placed if a vjob started now. If not, the vjob is
// added.
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

// reset removes the last vjob, which does not start after all. After maxBuilt times it stays for this
// decision, and others may have to wait for the next.
func (o *futureStarts) reset() {
	if o.built < maxBuilt {
		o.list = nil
	}
}

// build fills the capacities. A start at which its reservations cannot be placed in any case delays
// no vjob.
func (o *futureStarts) build(b *decision) {
	o.built++
	o.list = []futureStart{}
	for i := range b.entries {
		e := &b.entries[i]
		at := e.booking(b.Now).From
		if e.phase >= due || len(o.list) >= maxStarts {
			continue
		}
		capacity, fits := b.capacityAt(at), true
		for k := range b.Jobs {
			if j := &b.Jobs[k]; running(j) && b.keeps(j) && lasts(j, at, b.Now) {
				capacity.Take(j.ID)
			}
		}
		for k := range b.entries {
			if other := &b.entries[k]; other.covers(at, b.Now) {
				ok, _ := capacity.Take(other.ID)
				fits = fits && ok
			}
		}
		for _, j := range o.started {
			if lasts(j, at, b.Now) {
				capacity.Take(j.ID)
			}
		}
		if fits {
			o.list = append(o.list, futureStart{e, at, capacity})
		}
	}
}

// capacityAt returns empty capacity at another instant.
func (b *decision) capacityAt(at time.Time) queue.Capacity {
	if b.CapacityAt != nil {
		return b.CapacityAt(at)
	}
	return b.empty()
}

// lasts reports whether a vjob that runs from now on may still run at an instant.
func lasts(j *queue.Job, at, now time.Time) bool {
	left, ends := j.Left()
	return !ends || at.Before(now.Add(left))
}
