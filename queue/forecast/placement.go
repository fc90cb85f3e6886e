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

// maxPlacements bounds how often that is done: each time packs the whole cluster. Whoever comes
// after that is foretold as if there were no rules.
const maxPlacements = 48

// newPlacement is an empty room for one whom rules concern; nil: it is not looked at.
func (f *forecast) newPlacement(j *Job) func(id cluster.VJobID) bool {
	if !j.Ruled || f.Places == nil || f.placements >= maxPlacements {
		return nil
	}
	f.placements++
	return f.Places()
}

// isInfeasible reports whether the rules leave a vjob no places, even if nobody else were there.
func (f *forecast) isInfeasible(j *Job) bool {
	take := f.newPlacement(j)
	return take != nil && !take(j.ID)
}

// satisfiesRules reports whether a vjob finds places by the rules at an instant, beside all that run
// then by the plan.
func (f *forecast) satisfiesRules(j *Job, at time.Time) bool {
	take := f.newPlacement(j)
	if take == nil {
		return true
	}
	for i := range f.Jobs {
		if f.runsAt(i, at) {
			take(f.Jobs[i].ID)
		}
	}
	return take(j.ID)
}

// runsAt reports whether a vjob runs at an instant by the plan.
func (f *forecast) runsAt(i int, at time.Time) bool {
	b := &f.bars[i]
	return !b.Start.IsZero() && !b.Start.After(at) && (b.End.IsZero() || b.End.After(at))
}

// start is the earliest start of a vjob that waits, if rules leave it any.
func (f *forecast) start(j *Job, from time.Time) (start time.Time, b cause, ok bool) {
	if f.isInfeasible(j) {
		return start, cause{infeasible: true}, false
	}
	return f.earliest(j, from)
}
