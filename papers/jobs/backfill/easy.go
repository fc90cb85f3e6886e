package backfill

import "vjob/queue/availability"

// easy is aggressive backfilling (Lifka; Mu'alem and Feitelson): the head of the
// queue has a reservation, and those behind it start when they do not delay it.
type easy struct {
	running
	plan *availability.Timeline // what is free when every running job takes all its time
	// The head that could not start; its shadow is the earliest instant at which
	// it can, and extra is what is left then. They stand until a job leaves: a job
	// that passes the head is over by the shadow or is taken off the extra.
	blocked bool
	shadow  Time
	extra   int64
}

func newEASY(size int64) *easy {
	return &easy{running: newRunning(size), plan: availability.NewTimeline(size)}
}

// Pass implements [Discipline].
func (e *easy) Pass(now Time, gone []int64, came []Job) []int64 {
	e.begin()
	e.plan.Forget(now)
	for _, id := range gone {
		if s, ran := e.leave(id); ran {
			e.plan.Release(now, s.end, s.width)
		}
		e.blocked = false
	}
	place := e.waiting.end() // jobs that wait already could not pass the head, with more time
	e.waiting.add(came...)
	if !e.blocked {
		place = e.startHeads(now)
	}
	for e.blocked {
		if place = e.waiting.next(place, e.free, e.extra, e.shadow-now); place == e.waiting.end() {
			break
		}
		if j := e.take(place, now); now.Plus(j.Length) > e.shadow {
			e.extra -= j.Width
		}
	}
	return e.started
}

// startHeads starts heads while they fit, reserves for the first that does not,
// and returns the place after it.
func (e *easy) startHeads(now Time) int {
	for head := e.waiting.head(); head != nil; head = e.waiting.head() {
		if head.Width > e.free {
			e.blocked = true
			e.shadow = e.plan.Earliest(now, 1, head.Width, Never)
			e.extra = e.plan.Free(e.shadow) - head.Width
			return e.waiting.first + 1
		}
		e.take(e.waiting.first, now)
	}
	return e.waiting.end()
}

// take starts the job at a place of the line.
func (e *easy) take(place int, now Time) Job {
	j := e.start(place, now)
	e.plan.Reserve(now, now.Plus(j.Length), j.Width)
	return j
}

// Wake implements [Discipline]: jobs start when others end.
func (*easy) Wake() Time { return Never }
