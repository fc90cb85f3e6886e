package availability

import (
	"math"
	"time"
)

// Unlimited is the Most of a step without limit.
const Unlimited = math.MaxInt64

// LimitStep is the limit from an instant on, until the next step.
type LimitStep struct {
	From time.Time
	Most int64
	Name string // for users
}

// Limit is an upper bound, such as a quota, that changes with time, and what uses it. What has begun
// goes on when the bound falls below it. A start must be within the bound then, and must not exceed it
// for later starts. It belongs to one goroutine.
type Limit struct {
	now   time.Time
	steps []LimitStep
	top   int64     // the largest limit
	used  *Timeline // free amount of plenty
}

// plenty is more than can be used.
const plenty = 1 << 52

// NewLimit returns an unused limit. There is at least one step; the first holds from now on, whenever
// it begins.
func NewLimit(now time.Time, steps []LimitStep) *Limit {
	c := &Limit{now: now, steps: steps, used: NewTimeline(plenty)}
	for _, s := range steps {
		c.top = max(c.top, s.Most)
	}
	return c
}

// Take adds an amount from an instant on, for a length of time or for good, whatever the limit.
func (c *Limit) Take(from time.Time, length time.Duration, ends bool, amount int64) {
	at := c.seconds(from)
	c.used.Reserve(at, at.Plus(span(length, ends)), amount)
}

// Earliest returns the first instant, from one on, at which so much more may begin. It reports false if
// no instant does.
func (c *Limit) Earliest(from time.Time, length time.Duration, ends bool, amount int64) (start time.Time, ok bool) {
	if amount > c.top {
		return start, false
	}
	for at := c.seconds(from); ; {
		if c.top < Unlimited {
			at = c.used.Earliest(at, span(length, ends), plenty-c.top+amount, Never)
		}
		if at >= furthest {
			return start, false
		}
		start = from
		if later := c.instant(at); later.After(from) {
			start = later
		}
		if most := c.At(start).Most; most == Unlimited || plenty-c.used.Free(at)+amount <= most {
			return start, true
		}
		at = c.change(at)
	}
}

// At returns the step at an instant.
func (c *Limit) At(t time.Time) LimitStep {
	for i := len(c.steps) - 1; i > 0; i-- {
		if !c.steps[i].From.After(t) {
			return c.steps[i]
		}
	}
	return c.steps[0]
}

// change returns the first instant after another at which the limit or its use changes.
func (c *Limit) change(at Time) Time {
	next := Never
	for t := range c.used.Steps(at) {
		if t > at {
			next = t
			break
		}
	}
	for _, s := range c.steps {
		if t := c.seconds(s.From); t > at {
			return min(next, t)
		}
	}
	return next
}

func span(length time.Duration, ends bool) Time {
	if !ends {
		return Never
	}
	return max(1, Time((length+time.Second-1)/time.Second))
}

// seconds rounds up.
func (c *Limit) seconds(t time.Time) Time {
	return Time((max(0, t.Sub(c.now)) + time.Second - 1) / time.Second)
}

func (c *Limit) instant(t Time) time.Time {
	return c.now.Add(time.Duration(t) * time.Second)
}
