package queue

import (
	"fmt"
	"time"
)

// Conservative is conservative backfilling (thesis §2.3.1): each vjob in order gets the earliest
// start that delays no earlier one, and starts at that instant. Every decision computes the starts
// anew, so that early ends bring all vjobs forward. No vjob is suspended, and none passes a vjob
// without a known start.
type Conservative struct{}

var _ Policy = Conservative{}

// Name is "conservative".
func (Conservative) Name() string { return "conservative" }

// Traits are reserved needs and no suspensions.
func (Conservative) Traits() Traits { return Traits{Needs: Reserved} }

// Select keeps running vjobs and gives each other one its start.
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
			w.wait(i, "may not pass "+unknown+", since its start cannot be known")
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
