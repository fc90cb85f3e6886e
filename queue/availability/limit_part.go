package availability

import "time"

// LimitPart is what a vjob takes of a limit.
type LimitPart struct {
	Of     *Limit
	Amount int64
	// Within, if more than 0, makes it a limit on accumulated use, such as CPU time; Amount is the use
	// in a second. What will be used within so long counts from the start on, and what was used counts
	// until so long after its hour.
	Within time.Duration
}

// Earliest returns the first instant, from one on, at which a vjob may begin that runs for a length of
// time, or for good. It reports false if no instant does.
func (p *LimitPart) Earliest(from time.Time, length time.Duration, ends bool) (start time.Time, ok bool) {
	if p.Within <= 0 {
		return p.Of.Earliest(from, length, ends, p.Amount)
	}
	return p.Of.Earliest(from, length+p.Within, ends, p.Amount*p.ahead(length, ends))
}

// ahead returns how many seconds count at the start.
func (p *LimitPart) ahead(length time.Duration, ends bool) int64 {
	if !ends {
		length = p.Within
	}
	return int64(span(min(length, p.Within), true))
}

// Take adds a vjob that begins at an instant, whatever the limit.
func (p *LimitPart) Take(from time.Time, length time.Duration, ends bool) {
	if p.Within <= 0 {
		p.Of.Take(from, length, ends, p.Amount)
		return
	}
	if !ends { // its use goes on
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
		counts := from.Add(-p.Within) // before that it is beyond every search
		if counts.Before(start) {
			counts = start
		}
		p.Of.Take(counts, Expires(next, p.Within).Sub(counts), true, p.Amount*int64(span(next.Sub(from), true)))
		from = next
	}
}

// maxPieces bounds the pieces of a use that is released hour by hour.
const maxPieces = 8

// Expires returns when the use until an instant no longer counts, where it counts for so long: whole
// hours count.
func Expires(used time.Time, within time.Duration) time.Time {
	return used.Add(time.Hour - time.Nanosecond).Truncate(time.Hour).Add(within)
}
