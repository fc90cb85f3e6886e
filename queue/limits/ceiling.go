// Package limits is a limit on what may be in use together, such as a quota, as it is
// going to be: it may change with time, and who begins takes his part of it until he ends.
// What has begun goes on when the limit falls below it; only who begins has to be under
// it, and may push nobody over it that begins after him.
//
// It is pure. It refuses to know what is counted, and for whom.
package limits

import (
	"math"
	"time"

	"vjob/queue/profile"
)

// Unlimited is a limit that is none.
const Unlimited = math.MaxInt64

// Step is a limit from an instant on, until that of the next step.
type Step struct {
	From time.Time
	Most int64
	Name string // for people
}

// Profile is one limit. It belongs to one goroutine.
type Profile struct {
	now   time.Time
	steps []Step
	top   int64            // the largest limit
	used  *profile.Profile // what is left of plenty
}

// plenty is more than anybody uses.
const plenty = 1 << 52

// New is a limit from now on of which nothing is used. There is one step at least; the
// first holds from now on, whenever it begins.
func New(now time.Time, steps []Step) *Profile {
	c := &Profile{now: now, steps: steps, used: profile.New(plenty)}
	for _, s := range steps {
		c.top = max(c.top, s.Most)
	}
	return c
}

// Take counts an amount from an instant on, for a length of time or for good, whatever
// the limit.
func (c *Profile) Take(from time.Time, length time.Duration, ends bool, amount int64) {
	at := c.seconds(from)
	c.used.Reserve(at, at.Plus(span(length, ends)), amount)
}

// Earliest is the first instant, from one on, at which so much more may begin; it reports
// false if there is none.
func (c *Profile) Earliest(from time.Time, length time.Duration, ends bool, amount int64) (start time.Time, ok bool) {
	if amount > c.top {
		return start, false
	}
	for at := c.seconds(from); ; {
		if c.top < Unlimited {
			at = c.used.Earliest(at, span(length, ends), plenty-c.top+amount, profile.Never)
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

// At is the step that holds at an instant.
func (c *Profile) At(t time.Time) Step {
	for i := len(c.steps) - 1; i > 0; i-- {
		if !c.steps[i].From.After(t) {
			return c.steps[i]
		}
	}
	return c.steps[0]
}

// Used is how much is in use at an instant.
func (c *Profile) Used(t time.Time) int64 { return plenty - c.used.Free(c.seconds(t)) }

// change is the first instant after one at which the limit changes, or what is used.
func (c *Profile) change(at profile.Time) profile.Time {
	next := profile.Never
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

// furthest is how far ahead an instant can be told.
const furthest = profile.Time(200 * 365 * 24 * 3600)

func span(length time.Duration, ends bool) profile.Time {
	if !ends {
		return profile.Never
	}
	return max(1, profile.Time((length+time.Second-1)/time.Second))
}

// seconds rounds up.
func (c *Profile) seconds(t time.Time) profile.Time {
	return profile.Time((max(0, t.Sub(c.now)) + time.Second - 1) / time.Second)
}

func (c *Profile) instant(t profile.Time) time.Time {
	return c.now.Add(time.Duration(t) * time.Second)
}
