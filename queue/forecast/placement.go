package forecast

import (
	"time"

	"vjob/cluster"
)

// Places returns an empty placement. The function that it returns adds one vjob after another and
// reports whether all rules allow each beside those before it.
type Places func() func(id cluster.VJobID) bool

// maxPlacements bounds the placements, since each packs the whole cluster. Later vjobs are forecast
// without rules.
const maxPlacements = 48

// newPlacement returns an empty placement for a vjob that rules concern; nil: rules are not tried.
func (f *forecast) newPlacement(j *Job) func(id cluster.VJobID) bool {
	if !j.Ruled || f.Places == nil || f.placements >= maxPlacements {
		return nil
	}
	f.placements++
	return f.Places()
}

// isInfeasible reports whether the rules allow a vjob nowhere, even alone.
func (f *forecast) isInfeasible(j *Job) bool {
	take := f.newPlacement(j)
	return take != nil && !take(j.ID)
}

// satisfiesRules reports whether the rules allow a vjob at an instant beside all that run then.
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

// runsAt reports whether a vjob runs at an instant by the schedule.
func (f *forecast) runsAt(i int, at time.Time) bool {
	b := &f.bars[i]
	return !b.Start.IsZero() && !b.Start.After(at) && (b.End.IsZero() || b.End.After(at))
}

// start returns the earliest start of a waiting vjob, unless the rules allow none.
func (f *forecast) start(j *Job, from time.Time) (start time.Time, b cause, ok bool) {
	if f.isInfeasible(j) {
		return start, cause{infeasible: true}, false
	}
	return f.earliest(j, from)
}
