package availability

import (
	"time"

	"vjob/cluster"
)

// Shape is one alternative.
type Shape struct {
	Need   cluster.Resources
	Length time.Duration // that it runs, more than 0
}

// ChooseShape is the shape that ends first if each starts as early as it can in an outlook, and
// when that is; of equals the first. For a gap after its end the room of each counts as
// taken. It reports false if none can be known to start.
func ChooseShape(o *Profile, shapes []Shape, gap time.Duration) (best int, start time.Time, ok bool) {
	var end time.Time
	for i, s := range shapes {
		at, known := o.Earliest(s.Need, s.Length+gap, true, false)
		if known && (!ok || at.Add(s.Length).Before(end)) {
			best, start, end, ok = i, at, at.Add(s.Length), true
		}
	}
	return best, start, ok
}
