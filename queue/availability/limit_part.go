package availability

import "time"

// LimitPart is what somebody takes of a ceiling.
type LimitPart struct {
	Of     *Limit
	Amount int64
	// Within, if more than 0, makes it a limit on what is used up, such as time of
	// processors, and Amount what is used in a second. What will be used within so long
	// counts from the start on, and what was until so long after the hour in which it was.
	Within time.Duration
}

// Earliest is the first instant, from one on, at which somebody may begin who stays for a
// length of time, or for good; it reports false if there is none.
func (p *LimitPart) Earliest(from time.Time, length time.Duration, ends bool) (start time.Time, ok bool) {
	if p.Within <= 0 {
		return p.Of.Earliest(from, length, ends, p.Amount)
	}
	return p.Of.Earliest(from, length+p.Within, ends, p.Amount*p.ahead(length, ends))
}

// ahead is how many seconds count at the start.
func (p *LimitPart) ahead(length time.Duration, ends bool) int64 {
	if !ends {
		length = p.Within
	}
	return int64(span(min(length, p.Within), true))
}

// Take counts somebody who begins at an instant, whatever the limit.
func (p *LimitPart) Take(from time.Time, length time.Duration, ends bool) {
	if p.Within <= 0 {
		p.Of.Take(from, length, ends, p.Amount)
		return
	}
	if !ends { // then it goes on using as much as it did
		p.Of.Take(from, 0, false, p.Amount*p.ahead(0, false))
		p.Of.Take(from.Add(p.Within), 0, false, p.Amount*p.ahead(0, false))
		return
	}
	start, end, step := from, from.Add(length), (length/maxPieces).Truncate(time.Hour)+time.Hour
	for from.Before(end) {
		next := from.Truncate(time.Hour).Add(step)
		if next.After(end) {
			next = end
		}
		counts := from.Add(-p.Within) // before, it is further ahead than anybody looks
		if counts.Before(start) {
			counts = start
		}
		p.Of.Take(counts, Fades(next, p.Within).Sub(counts), true, p.Amount*int64(span(next.Sub(from), true)))
		from = next
	}
}

// maxPieces bounds into how many pieces a use is cut that is given back hour by hour.
const maxPieces = 8

// Fades is when what was used until an instant does not count any more, where it counts
// for so long: hours count whole.
func Fades(used time.Time, within time.Duration) time.Time {
	return used.Add(time.Hour - time.Nanosecond).Truncate(time.Hour).Add(within)
}
