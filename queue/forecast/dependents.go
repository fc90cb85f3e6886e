package forecast

import (
	"time"

	"vjob/cluster"
)

// Dependency is a vjob or a whole array, of which the start or the end is waited for. One that is not in the
// scene is met.
type Dependency struct {
	On           cluster.VJobID
	Array, Start bool
}

// maxChain bounds the length of chains of dependencies.
const maxChain = 8

// planDependents plans vjobs with dependencies once the forecast has starts and ends of these.
func (f *forecast) planDependents() {
	for more, links := true, 0; more && links < maxChain; links++ {
		more = false
		var foretold eventTimes // computed on demand
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
			start, because, ok := f.earliest(j, cluster.Later(met, f.Now))
			if !ok {
				continue
			}
			f.occupy(j, start, because)
			f.plan(i, start)
			f.bars[i].because = reason{before: "; that is foretold for " + f.clock(met)}
			more = true
		}
	}
}

// eventTimes are the starts and ends of vjobs and arrays; zero: unknown.
type eventTimes map[Dependency]time.Time

func (f *forecast) spans() eventTimes {
	s := eventTimes{}
	see := func(t Dependency, at time.Time) {
		if before, seen := s[t]; !seen || !before.IsZero() && (at.IsZero() || at.After(before)) {
			s[t] = at // zero: one of them is unknown
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

// met returns when the last dependency is met. It reports false if that is unknown, or if all are met
// already and something else blocks the vjob.
func (s eventTimes) met(ties []Dependency) (last time.Time, known bool) {
	for _, t := range ties {
		at, there := s[t]
		switch {
		case !there:
		case at.IsZero():
			return last, false
		default:
			last, known = cluster.Later(last, at), true
		}
	}
	return last, known
}
