package backfill

import "vjob/queue/availability"

// conservative is conservative backfilling: every job gets a reservation when it comes, the
// earliest that moves no other. Without compression reservations never move, and what a job
// leaves when it ends early is for later jobs; see compression for the other way.
type conservative struct {
	plan        *availability.Timeline // what neither runs nor is reserved
	bookings    map[int64]*booking
	due         dueHeap      // those that wait
	count       int64        // of those that came
	compression *compression // nil without
	started     []int64
}

// booking is the stretch of time that a job has for its own.
type booking struct {
	Job
	start Time
	place int64  // in the queue
	due   int    // index in the heap of those that wait, -1 when it runs
	shape *shape // for compression
}

func (b *booking) end() Time     { return b.start.Plus(b.Length) }
func (b *booking) waiting() bool { return b.due >= 0 }

func newConservative(size int64, compress bool) *conservative {
	c := &conservative{plan: availability.NewTimeline(size), bookings: map[int64]*booking{}}
	if compress {
		c.compression = newCompression()
	}
	return c
}

// Pass implements [Discipline].
func (c *conservative) Pass(now Time, gone []int64, came []Job) []int64 {
	c.plan.Forget(now)
	for _, id := range gone {
		if b := c.bookings[id]; b != nil {
			c.leave(b, now)
		}
	}
	if len(gone) > 0 {
		c.compression.pass(now, c.plan, c.advance)
	}
	for i := range came {
		c.book(&came[i], now)
	}
	return c.start(now)
}

// book gives a job that has come its reservation.
func (c *conservative) book(j *Job, now Time) {
	b := &booking{Job: *j, place: c.count, start: c.plan.Earliest(now, j.Length, j.Width, Never)}
	c.count++
	c.plan.Reserve(b.start, b.end(), b.Width)
	c.bookings[b.ID] = b
	c.due.add(b)
	c.compression.joined(b)
}

// leave gives back what a job has not used.
func (c *conservative) leave(b *booking, now Time) {
	delete(c.bookings, b.ID)
	if from := max(now, b.start); from < b.end() {
		c.plan.Release(from, b.end(), b.Width)
		c.compression.freed()
	}
	if b.waiting() {
		c.due.remove(b)
		c.compression.left(b)
	}
}

// advance moves the reservation of a job that waits to an earlier instant. The
// two may overlap.
func (c *conservative) advance(b *booking, start Time) {
	end := b.end()
	early := start.Plus(b.Length)
	c.plan.Release(max(b.start, early), end, b.Width)
	c.plan.Reserve(start, min(b.start, early), b.Width)
	b.start = start
	c.due.sooner(b)
}

// start starts the jobs with a reservation that begins now.
func (c *conservative) start(now Time) []int64 {
	c.started = c.started[:0]
	for len(c.due) > 0 && c.due[0].start <= now {
		b := c.due[0]
		c.due.remove(b)
		c.compression.left(b)
		c.started = append(c.started, b.ID)
	}
	return c.started
}

// Wake implements [Discipline]: the earliest reservation.
func (c *conservative) Wake() Time {
	if len(c.due) == 0 {
		return Never
	}
	return c.due[0].start
}
