package availability

import (
	"time"

	"vjob/cluster"
)

// Shape is one of the sizes of a moldable vjob.
type Shape struct {
	Need   cluster.Resources
	Length time.Duration // of its run, more than 0
}

// ChooseShape returns the shape that ends first if each starts as early as it fits (Feitelson and
// Rudolph 1996; thesis §2.2), and its start; of equal ones the first. The capacity of each counts as
// taken for a gap after its end. It reports false if none has a known start.
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
