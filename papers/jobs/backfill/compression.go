package backfill

import (
	"slices"

	"vjob/queue/availability"
)

// compression moves reservations forward when jobs leave before their time: in
// the order of the queue, each job that waits gives its reservation back and takes
// the earliest there is, which is never later.
//
// With thousands that wait nearly every such step finds nothing, and most need not
// be tried. Let a job of width w and length l have its reservation at s. That no
// start t before s is possible means that some instant x in [t, t+l) has less than
// w free, a blocker. All blockers lie before s: from s on the job holds the room
// itself. Three things follow.
//
//   - Where room was only taken since, every blocker stands. So a pass is needed
//     only if room became free since the last one began.
//   - A blocker for one job is a blocker for each that is as wide, unless that
//     other job holds the room at x itself, which it does not do before its own
//     reservation begins. So what failed for one job need not be tried
//     in the same pass for the next one of its [shape], if that one's reservation
//     begins after all the blockers that were found.
//   - A job that moves forward from s to t frees room from max(s, t+l) on. If
//     that is the instant a, blockers from a on may be gone, and a start that comes
//     within reach of a, after a-l, has to be tried again. Others have not.
//
// A nil compression moves nothing.
type compression struct {
	queue    []*booking // in order; some wait no more
	gaps     int        // these
	shapes   map[[2]int64]*shape
	openings openings
	opened   bool // room became free since the last pass began
	passes   int64
}

// shape is what jobs of one width and length share.
type shape struct {
	waiting int   // number of waiting jobs
	pass    int64 // the pass of the following fields
	// Every start from the present until before tried has a blocker, and that lies
	// before blocked.
	tried, blocked Time
	seen           int // openings of the pass that are considered in this
}

func newCompression() *compression { return &compression{shapes: map[[2]int64]*shape{}} }

// joined notes a job that waits now.
func (c *compression) joined(b *booking) {
	if c == nil {
		return
	}
	key := [2]int64{b.Width, int64(b.Length)}
	if b.shape = c.shapes[key]; b.shape == nil {
		b.shape = &shape{}
		c.shapes[key] = b.shape
	}
	b.shape.waiting++
	c.queue = append(c.queue, b)
}

// left notes a job that waits no more.
func (c *compression) left(b *booking) {
	if c == nil {
		return
	}
	if b.shape.waiting--; b.shape.waiting == 0 {
		delete(c.shapes, [2]int64{b.Width, int64(b.Length)})
	}
	if c.gaps++; 2*c.gaps > len(c.queue) {
		c.gaps = 0
		c.queue = slices.DeleteFunc(c.queue, func(b *booking) bool { return !b.waiting() })
	}
}

// freed notes that room became free.
func (c *compression) freed() {
	if c != nil {
		c.opened = true
	}
}

// pass has what can start earlier moved there.
func (c *compression) pass(now Time, plan *availability.Timeline, move func(b *booking, start Time)) {
	if c == nil || !c.opened {
		return
	}
	c.opened = false
	c.passes++
	c.openings.clear()
	for _, b := range c.queue {
		if !b.waiting() {
			continue
		}
		if start := c.earliest(plan, b, now); start < b.start {
			c.openings.add(max(b.start, start.Plus(b.Length)))
			move(b, start)
			c.opened = true
		}
	}
}

// earliest is the earliest start of a job that waits.
func (c *compression) earliest(plan *availability.Timeline, b *booking, now Time) Time {
	s := b.shape
	if s.pass != c.passes {
		s.pass, s.tried, s.blocked, s.seen = c.passes, now, now, 0
	}
	if b.start < s.blocked { // it may have been in the way of the other itself
		return plan.Earliest(now, b.Length, b.Width, b.start)
	}
	if at, some := c.openings.since(s.seen); some {
		s.tried = min(s.tried, at-b.Length+1)
	}
	s.seen = c.openings.count
	if s.tried < b.start {
		s.tried = plan.Earliest(max(now, s.tried), b.Length, b.Width, b.start)
		s.blocked = max(s.blocked, s.tried)
	}
	return min(s.tried, b.start)
}
