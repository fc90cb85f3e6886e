package price

import (
	"math"
	"time"

	"vjob/energy"
)

// Series is the price of energy in consecutive steps of equal length. It is immutable; nil has
// no prices.
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

// From is when the first step begins.
func (s *Series) From() time.Time {
	if s == nil {
		return time.Time{}
	}
	return s.from
}

// Zone is the time zone in which the series was written.
func (s *Series) Zone() *time.Location { return s.zone }

// Until is when the last step ends.
func (s *Series) Until() time.Time {
	if s == nil {
		return time.Time{}
	}
	return s.from.Add(time.Duration(len(s.values)) * s.step)
}

// Step is the length of a step.
func (s *Series) Step() time.Duration { return s.step }

// Values are the prices, step by step. Callers must not change them.
func (s *Series) Values() []float64 { return s.values }

// Covers reports whether the price is known at every instant between two.
func (s *Series) Covers(from, to time.Time) bool {
	return s != nil && !from.Before(s.from) && !to.After(s.Until())
}

// At returns the price at an instant, and false if it is not known.
func (s *Series) At(t time.Time) (value float64, known bool) {
	if s == nil || t.Before(s.from) || !t.Before(s.Until()) {
		return 0, false
	}
	return s.values[t.Sub(s.from)/s.step], true
}

// Cost returns the cost of an energy drawn evenly between two instants, in the currency of the
// unit. It returns false if the price is not known all that time.
func (s *Series) Cost(e energy.Joules, from, to time.Time) (cost float64, known bool) {
	if !s.Covers(from, to) {
		return 0, false
	}
	if !to.After(from) {
		value, known := s.At(from)
		return value * float64(e/per[s.unit.Per]), known
	}
	return s.integral(from, to) / to.Sub(from).Seconds() * float64(e/per[s.unit.Per]), true
}

// integral sums value times seconds over a time that is known.
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

// nextStep returns the first instant after t at which a step begins or the last one ends, and
// false after the end.
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

// maxPrice bounds a price, to catch typing errors.
const maxPrice = 1e9
