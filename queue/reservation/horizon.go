package reservation

import "vjob/queue"

// suspensionHorizon is a room as it will be when the last reservation begins before which nobody starts
// who would have to make room again: in it are those that keep their room, these
// reservations, and whoever was taken since. Sums say whether there is room for one who
// starts beside them, and this whether there are places.
type suspensionHorizon struct {
	capacity queue.Capacity // nil: it is not built yet, or there is nothing to be said by it
	next     *entry         // the first of the reservations
	taken    []*queue.Job
	built    int
}

// conflict is the reservation that would lack places if a vjob started that makes room; nil:
// none would. If none would, it is in the eve from now on.
func (v *suspensionHorizon) conflict(r *reservedCapacity, j *queue.Job) *entry {
	if v.capacity == nil {
		v.build(r.decision)
	}
	if v.capacity == nil {
		return nil
	}
	if ok, _ := v.capacity.Take(j.ID); !ok {
		return v.next
	}
	return nil
}

// onTaken notes that a vjob has its room.
func (v *suspensionHorizon) onTaken(j *queue.Job) {
	v.taken = append(v.taken, j)
	if v.capacity != nil {
		v.capacity.Take(j.ID)
	}
}

// reset takes the last vjob out, that does not start after all, as [futureStarts] do.
func (v *suspensionHorizon) reset() {
	if v.built < maxBuilt {
		v.capacity = nil
	}
}

// build fills the room, if there are such reservations, and places for all of them.
func (v *suspensionHorizon) build(b *decision) {
	v.capacity, v.next = nil, nil
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
	room := b.capacityAt(v.next.Reservation)
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
	v.capacity = room
}
