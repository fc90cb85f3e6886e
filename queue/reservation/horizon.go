package reservation

import "vjob/queue"

// suspensionHorizon is the capacity at the start of the last reservation before which no vjob starts that
// would have to be suspended: it contains vjobs that keep theirs, these reservations, and vjobs taken
// since. Sums have told that a vjob fits beside them, and this tells whether it can be placed.
type suspensionHorizon struct {
	capacity queue.Capacity // nil: not built, or not needed
	next     *reservedJob   // the first of the reservations
	taken    []*queue.Job
	built    int
}

// conflict returns the reservation that could not be placed if a preemptible vjob started; nil: none.
// Then the vjob is added.
func (v *suspensionHorizon) conflict(r *reservedCapacity, j *queue.Job) *reservedJob {
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

// onTaken adds a vjob that was taken.
func (v *suspensionHorizon) onTaken(j *queue.Job) {
	v.taken = append(v.taken, j)
	if v.capacity != nil {
		v.capacity.Take(j.ID)
	}
}

// reset removes the last vjob, which does not start after all, as in [futureStarts].
func (v *suspensionHorizon) reset() {
	if v.built < maxBuilt {
		v.capacity = nil
	}
}

// build fills the capacity, if there are such reservations and all can be placed.
func (v *suspensionHorizon) build(b *decision) {
	v.capacity, v.next = nil, nil
	var coming []*reservedJob
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
	capacity := b.capacityAt(v.next.Reservation)
	for i := range b.Jobs {
		if j := &b.Jobs[i]; running(j) && b.keeps(j) {
			capacity.Take(j.ID)
		}
	}
	for _, e := range coming {
		if ok, _ := capacity.Take(e.ID); !ok {
			return
		}
	}
	for _, j := range v.taken {
		capacity.Take(j.ID)
	}
	v.capacity = capacity
}
