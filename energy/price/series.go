package price

import (
	"math"
	"time"

	"vjob/energy"
)

// Series is the price of energy in steps of equal length, one after the other. It does not
// change; nil is a series that knows nothing.
type Series struct {
	unit   Unit
	from   time.Time
	zone   *time.Location // in which that was written
	step   time.Duration
	values []float64
}

// Unit is that of the values.
func (s *Series) Unit() Unit {
	if s == nil {
		return Unit{}
	}
	return s.unit
}

// From is when the first step begins, and Until when the last one ends.
func (s *Series) From() time.Time {
	if s == nil {
		return time.Time{}
	}
	return s.from
}

// Zone is that in which the series says when it begins; nil is none.
func (s *Series) Zone() *time.Location { return s.zone }

// Until is when nothing is known any more.
func (s *Series) Until() time.Time {
	if s == nil {
		return time.Time{}
	}
	return s.from.Add(time.Duration(len(s.values)) * s.step)
}

// Step is how long each value holds.
func (s *Series) Step() time.Duration { return s.step }

// Values are the prices, step by step. Nobody may change them.
func (s *Series) Values() []float64 { return s.values }

// Knows reports whether there is a price at every instant from one to another.
func (s *Series) Knows(from, to time.Time) bool {
	return s != nil && !from.Before(s.from) && !to.After(s.Until())
}

// At is the price of an instant; false: it is not known.
func (s *Series) At(t time.Time) (value float64, known bool) {
	if s == nil || t.Before(s.from) || !t.Before(s.Until()) {
		return 0, false
	}
	return s.values[t.Sub(s.from)/s.step], true
}

// Cost is what an energy costs that is drawn evenly from one instant to another, in what
// the unit counts; false: the price is not known all that time.
func (s *Series) Cost(e energy.Joules, from, to time.Time) (cost float64, known bool) {
	if !s.Knows(from, to) {
		return 0, false
	}
	if !to.After(from) {
		value, known := s.At(from)
		return value * float64(e/per[s.unit.Per]), known
	}
	return s.integral(from, to) / to.Sub(from).Seconds() * float64(e/per[s.unit.Per]), true
}

// integral sums the values over a time that is known, in seconds of each.
func (s *Series) integral(from, to time.Time) (sum float64) {
	for t := from; t.Before(to); {
		i := t.Sub(s.from) / s.step
		next := s.from.Add((i + 1) * s.step)
		if next.After(to) {
			next = to
		}
		sum += s.values[i] * next.Sub(t).Seconds()
		t = next
	}
	return sum
}

// nextStep is the first instant after t at which a step begins or the last one ends; false:
// there is none.
func (s *Series) nextStep(t time.Time) (at time.Time, ok bool) {
	switch {
	case s == nil || !t.Before(s.Until()):
		return at, false
	case t.Before(s.from):
		return s.from, true
	}
	return s.from.Add((t.Sub(s.from)/s.step + 1) * s.step), true
}

// valid reports whether a number can be a price.
func valid(v float64) bool { return !math.IsNaN(v) && math.Abs(v) <= maxPrice }

// maxPrice bounds a price: numbers beyond it are slips.
const maxPrice = 1e9
