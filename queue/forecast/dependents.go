package forecast

import (
	"time"

	"vjob/cluster"
)

// Dependency is another vjob, or a whole array, for which one waits: until it has started, or
// until it has ended. One that is not in the scene has.
type Dependency struct {
	On           cluster.VJobID
	Array, Start bool
}

// maxChain bounds how long a chain is foretold of those that wait for each other.
const maxChain = 8

// planDependents plans those that wait for others, once it is foretold when these start or end;
// those that wait for room only were planned before.
func (f *forecast) planDependents() {
	for more, links := true, 0; more && links < maxChain; links++ {
		more = false
		var foretold eventTimes // until somebody asks
		for i := range f.Jobs {
			j := &f.Jobs[i]
			if len(j.After) == 0 || !f.bars[i].Start.IsZero() {
				continue
			}
			if foretold == nil {
				foretold = f.spans()
			}
			met, known := foretold.met(j.After)
			if !known {
				continue
			}
			start, because, ok := f.earliest(j, later(met, f.Now))
			if !ok {
				continue
			}
			f.occupy(j, start, because)
			f.plan(i, start)
			f.bars[i].Why, more = j.Reason+"; that is foretold for "+f.clock(met), true
		}
	}
}

// eventTimes are when vjobs and arrays start and end, as far as that is foretold.
type eventTimes map[Dependency]time.Time

func (f *forecast) spans() eventTimes {
	s := eventTimes{}
	see := func(t Dependency, at time.Time) {
		if before, seen := s[t]; !seen || !before.IsZero() && (at.IsZero() || at.After(before)) {
			s[t] = at // zero: of one it is not known
		}
	}
	for i := range f.Jobs {
		j, b := &f.Jobs[i], &f.bars[i]
		end := b.End
		if !end.IsZero() {
			end = end.Add(-f.Gap)
		}
		see(Dependency{On: j.ID, Start: true}, b.Start)
		see(Dependency{On: j.ID}, end)
		if j.Array != 0 {
			see(Dependency{j.Array, true, true}, b.Start)
			see(Dependency{On: j.Array, Array: true}, end)
		}
	}
	return s
}

// met is when the last of some ties is; it reports false if that cannot be known, or all
// are already: then something else is waited for.
func (s eventTimes) met(ties []Dependency) (last time.Time, known bool) {
	for _, t := range ties {
		at, there := s[t]
		switch {
		case !there:
		case at.IsZero():
			return last, false
		default:
			last, known = later(last, at), true
		}
	}
	return last, known
}
