package reservation

import "vjob/queue"

// eve is a room as it will be when the last reservation begins before which nobody starts
// who would have to make room again: in it are those that keep their room, these
// reservations, and whoever was taken since. Sums say whether there is room for one who
// starts beside them, and this whether there are places.
type eve struct {
	room  queue.Capacity // nil: it is not built yet, or there is nothing to be said by it
	next  *entry         // the first of the reservations
	taken []*queue.Job
	built int
}

// runsInto is the reservation that would lack places if a vjob started that makes room; nil:
// none would. If none would, it is in the eve from now on.
func (v *eve) runsInto(r *room, j *queue.Job) *entry {
	if v.room == nil {
		v.build(r.book)
	}
	if v.room == nil {
		return nil
	}
	if ok, _ := v.room.Take(j.ID); !ok {
		return v.next
	}
	return nil
}

// took notes that a vjob has its room.
func (v *eve) took(j *queue.Job) {
	v.taken = append(v.taken, j)
	if v.room != nil {
		v.room.Take(j.ID)
	}
}

// withdraw takes the last vjob out, that does not start after all, as [openings] do.
func (v *eve) withdraw() {
	if v.built < mostBuilt {
		v.room = nil
	}
}

// build fills the room, if there are such reservations, and places for all of them.
func (v *eve) build(b *book) {
	v.room, v.next = nil, nil
	var coming []*entry
	for i := range b.entries {
		switch e := &b.entries[i]; {
		case e.phase == ahead && !e.Reservation.After(b.Now.Add(b.leads.Start)):
			if v.next == nil {
				v.next = e
			}
			coming = append(coming, e)
		case e.phase == due || e.phase == near:
			coming = append(coming, e)
		}
	}
	if v.next == nil {
		return
	}
	v.built++
	room := b.places(v.next.Reservation)
	for i := range b.Jobs {
		if j := &b.Jobs[i]; running(j) && b.keeps(j) {
			room.Take(j.ID)
		}
	}
	for _, e := range coming {
		if ok, _ := room.Take(e.ID); !ok {
			return
		}
	}
	for _, j := range v.taken {
		room.Take(j.ID)
	}
	v.room = room
}
