package queue

import (
	"fmt"
	"time"
)

// Conservative is conservative backfilling (thesis §2.3.1): each vjob in order is
// promised the earliest start that delays nobody before it, and starts when that has
// come. The promises are made anew at every decision, so that what ends early brings
// all forward. Nobody is parked, and nobody passes one whose start cannot be known.
type Conservative struct{}

var _ Policy = Conservative{}

// Name is "conservative".
func (Conservative) Name() string { return "conservative" }

// Traits are what was reserved for VMs, and no suspensions.
func (Conservative) Traits() Traits { return Traits{Needs: Reserved} }

// Select takes what runs, then gives each vjob its place in time.
func (Conservative) Select(m *Input) []Verdict {
	w := newScan(m)
	w.takeBusy()
	w.takeRunning()
	o := w.profile()
	unknown := ""
	for i := range w.jobs {
		if w.decided[i] {
			continue
		}
		j := &w.jobs[i]
		if unknown != "" {
			w.wait(i, "may not pass "+unknown+", whose start cannot be known")
			continue
		}
		left, ends := j.Left()
		start, ok := o.Earliest(j.Need, left, ends, false)
		why := "its place in time has not come"
		if ok && !start.After(m.Now) {
			fits, short := w.take(i)
			if fits {
				w.decide(i, Run, "runs: there is room")
				o.Reserve(start, j.Need, left, ends)
				continue
			}
			if short.Limit != "" {
				w.refuse(i, short)
				continue
			}
			why = short.String()
			start, ok = o.Earliest(j.Need, left, ends, true)
		}
		if !ok {
			w.wait(i, "when there will be room for it cannot be known: what runs has no walltime")
			unknown = j.ID.String()
			continue
		}
		o.Reserve(start, j.Need, left, ends)
		w.wait(i, fmt.Sprintf("%s; starts in %s at the latest", why, start.Sub(m.Now).Round(time.Second)))
		w.verdicts[i].Start = start
	}
	return w.verdicts
}
