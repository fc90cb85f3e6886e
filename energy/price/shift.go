package price

import (
	"time"

	"vjob/energy"
)

// Load draws power evenly for a time once it has started.
type Load struct {
	Power    energy.Watts
	Duration time.Duration
}

// Choice is when a load is to start, and its cost.
type Choice struct {
	At            time.Time
	Cost          float64 // cost of that start, in the currency of the series
	ImmediateCost float64 // cost of a start at once
	Unknown       bool    // the price of a start at once is not known; then At is now
}

// Waits reports whether the start is later than now.
func (c *Choice) Waits(now time.Time) bool { return c.At.After(now) }

// Saves is the saved part of the cost of a start at once, from 0 to 1; it is larger if a
// negative price earns money.
func (c *Choice) Saves() float64 {
	if c.ImmediateCost == c.Cost {
		return 0
	}
	return (c.ImmediateCost - c.Cost) / max(abs(c.ImmediateCost), abs(c.Cost))
}

// CheapestStart returns the cheapest start of a load from now to latest, the first of equal ones. If
// it saves less than the fraction least of the cost at once, the load starts at once. Starts
// without a known price to their end are excluded.
//
// The cost changes linearly with the start between two instants at which the price changes at
// the start or end of the load, so only those instants are evaluated.
func (s *Series) CheapestStart(l Load, now, latest time.Time, least float64) Choice {
	e := l.Power.Over(l.Duration)
	once, known := s.Cost(e, now, now.Add(l.Duration))
	best := Choice{At: now, Cost: once, ImmediateCost: once, Unknown: !known}
	if !known || l.Duration <= 0 {
		return best
	}
	best = s.cheapest(best, l, e, latest)
	if best.Saves() < least {
		return Choice{At: now, Cost: once, ImmediateCost: once}
	}
	return best
}

// cheapest evaluates the starts after the given one.
func (s *Series) cheapest(best Choice, l Load, e energy.Joules, latest time.Time) Choice {
	for t := best.At; t.Before(latest); {
		t = s.nextBreakpoint(t, l.Duration)
		if t.After(latest) {
			t = latest
		}
		c, known := s.Cost(e, t, t.Add(l.Duration))
		if !known {
			break
		}
		if c < best.Cost-1e-9*abs(best.ImmediateCost) {
			best.At, best.Cost = t, c
		}
	}
	return best
}

// nextBreakpoint returns the next start after t at which a step begins, or ends with the load.
func (s *Series) nextBreakpoint(t time.Time, lasts time.Duration) time.Time {
	begins, _ := s.nextStep(t)
	ends, ok := s.nextStep(t.Add(lasts))
	if ends = ends.Add(-lasts); ok && ends.Before(begins) {
		return ends
	}
	return begins
}

func abs(v float64) float64 { return max(v, -v) }
