package price

import (
	"time"

	"vjob/energy"
)

// Load is something that draws power evenly for a time, once it has started.
type Load struct {
	Power energy.Watts
	Lasts time.Duration
}

// Choice is when a load shall start.
type Choice struct {
	At      time.Time
	Costs   float64 // from then on, in what the unit of the series counts
	AtOnce  float64 // what it costs if it starts at once
	Unknown bool    // the price is not known for a start at once: then that is the choice
}

// Waits reports whether the choice is another start than at once.
func (c *Choice) Waits(now time.Time) bool { return c.At.After(now) }

// Saves is the part of the cost at once that the choice saves, from 0 to 1; more where
// prices below nothing are earned.
func (c *Choice) Saves() float64 {
	if c.AtOnce == c.Costs {
		return 0
	}
	return (c.AtOnce - c.Costs) / max(abs(c.AtOnce), abs(c.Costs))
}

// Start is the cheapest start from now to the latest one of a load; of equal ones the
// first. Where it saves less than so large a part of the cost at once, nobody waits for
// it. Starts whose price is not known to their end are none.
//
// Between two instants at which the price changes at the start or at the end of the load,
// its cost changes linearly with the start, so that only those instants are looked at.
func (s *Series) Start(l Load, now, latest time.Time, least float64) Choice {
	e := l.Power.Over(l.Lasts)
	once, known := s.Cost(e, now, now.Add(l.Lasts))
	best := Choice{At: now, Costs: once, AtOnce: once, Unknown: !known}
	if !known || l.Lasts <= 0 {
		return best
	}
	best = s.cheapest(best, l, e, latest)
	if best.Saves() < least {
		return Choice{At: now, Costs: once, AtOnce: once}
	}
	return best
}

// cheapest looks at the starts after the one that is given.
func (s *Series) cheapest(best Choice, l Load, e energy.Joules, latest time.Time) Choice {
	for t := best.At; t.Before(latest); {
		t = s.nextBreakpoint(t, l.Lasts)
		if t.After(latest) {
			t = latest
		}
		c, known := s.Cost(e, t, t.Add(l.Lasts))
		if !known {
			break
		}
		if c < best.Costs-1e-9*abs(best.AtOnce) {
			best.At, best.Costs = t, c
		}
	}
	return best
}

// nextBreakpoint is the next start after t at which a step begins, or ends with the load.
func (s *Series) nextBreakpoint(t time.Time, lasts time.Duration) time.Time {
	begins, _ := s.nextStep(t)
	ends, ok := s.nextStep(t.Add(lasts))
	if ends = ends.Add(-lasts); ok && ends.Before(begins) {
		return ends
	}
	return begins
}

func abs(v float64) float64 { return max(v, -v) }
