package forecast

import (
	"time"

	"vjob/cluster"
)

// Rules say where VMs may be, and neither sums nor sizes know of them. Whom some concern is
// tried out in a room that does.

// Places is an empty room. It takes vjobs one after another, and says of each whether it finds
// places by all rules beside those before it.
type Places func() func(id cluster.VJobID) bool

// mostPlaced bounds how often that is done: each time packs the whole cluster. Whoever comes
// after that is foretold as if there were no rules.
const mostPlaced = 48

// placing is an empty room for one whom rules concern; nil: it is not looked at.
func (f *forecast) placing(j *Job) func(id cluster.VJobID) bool {
	if !j.Ruled || f.Places == nil || f.placed >= mostPlaced {
		return nil
	}
	f.placed++
	return f.Places()
}

// nowhere reports whether the rules leave a vjob no places, even if nobody else were there.
func (f *forecast) nowhere(j *Job) bool {
	take := f.placing(j)
	return take != nil && !take(j.ID)
}

// obeys reports whether a vjob finds places by the rules at an instant, beside all that run
// then by the plan.
func (f *forecast) obeys(j *Job, at time.Time) bool {
	take := f.placing(j)
	if take == nil {
		return true
	}
	for i := range f.Jobs {
		if f.there(i, at) {
			take(f.Jobs[i].ID)
		}
	}
	return take(j.ID)
}

// there reports whether a vjob runs at an instant by the plan.
func (f *forecast) there(i int, at time.Time) bool {
	b := &f.bars[i]
	return !b.Start.IsZero() && !b.Start.After(at) && (b.End.IsZero() || b.End.After(at))
}

// start is the earliest start of a vjob that waits, if rules leave it any.
func (f *forecast) start(j *Job, from time.Time) (start time.Time, b because, ok bool) {
	if f.nowhere(j) {
		return start, because{ruled: true}, false
	}
	return f.earliest(j, from)
}
