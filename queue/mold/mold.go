// Package mold chooses what a moldable vjob is to be: of its shapes, the one that ends
// first (Feitelson and Rudolph 1996; thesis §2.2).
//
// It is pure. It refuses to know what a shape is made of, and when that is decided.
package mold

import (
	"time"

	"vjob/cluster"
	"vjob/queue/availability"
)

// Shape is one alternative.
type Shape struct {
	Need   cluster.Resources
	Length time.Duration // that it runs, more than 0
}

// Choose is the shape that ends first if each starts as early as it can in an outlook, and
// when that is; of equals the first. For a gap after its end the room of each counts as
// taken. It reports false if none can be known to start.
func Choose(o *availability.Profile, shapes []Shape, gap time.Duration) (best int, start time.Time, ok bool) {
	var end time.Time
	for i, s := range shapes {
		at, known := o.Earliest(s.Need, s.Length+gap, true, false)
		if known && (!ok || at.Add(s.Length).Before(end)) {
			best, start, end, ok = i, at, at.Add(s.Length), true
		}
	}
	return best, start, ok
}
