package queue

import (
	"fmt"
	"time"

	"vjob/cluster"
)

// FirstFit is the dynamic scheduler of thesis §9.2: in order of priority, each
// vjob runs for which there is room beside those chosen before it. So small vjobs
// pass large ones that wait; a running vjob that fits no longer, because those
// before it need more, is parked; and a large one gets its turn as soon as there
// is room for it beside those before it, at the expense of those after it.
type FirstFit struct {
	// Count is the CPU that VMs count for; the thesis has [Assumed].
	Count Needs
	// MinRun is how long a vjob is left alone once it was started or resumed: suspending
	// it at once would cost two switches for nothing.
	MinRun time.Duration
	// Patience is how long a vjob waits for room that becomes free by itself before
	// others are suspended for it: a switch should pay for itself.
	Patience time.Duration
}

var _ Policy = FirstFit{}

// Name is "firstfit".
func (FirstFit) Name() string { return "firstfit" }

// Needs is what the field Count says.
func (f FirstFit) Needs() Needs { return f.Count }

// Select walks the queue once, or twice if somebody would be parked who might be
// spared.
func (f FirstFit) Select(m *Moment) []Verdict {
	w := begin(m)
	f.spare(w)
	f.walk(w)
	if f.Patience > 0 && w.parks() {
		if calm := f.wait(m, w); calm != nil {
			return calm.foretell()
		}
	}
	return w.foretell()
}

func (FirstFit) walk(w *walk) {
	for i, j := range w.jobs {
		if w.passed(i) {
			continue
		}
		ok, short := w.take(i)
		switch {
		case ok && j.State == cluster.Running:
			w.settle(i, Run, "runs")
		case ok:
			w.settle(i, Run, "runs: there is room")
		case j.State == cluster.Running:
			w.settle(i, Park, "suspended to make room for "+w.ahead(i)+": "+short.String())
		default:
			w.refuse(i, short)
		}
	}
}

// spare lets those keep their room that have just begun.
func (f FirstFit) spare(w *walk) {
	for i, j := range w.jobs {
		ran := w.Now.Sub(j.Since)
		if w.settled[i] || j.State != cluster.Running || ran >= f.MinRun {
			continue
		}
		if ok, _ := w.take(i); ok {
			w.settle(i, Run, fmt.Sprintf("runs: it is left alone for %s yet", (f.MinRun-ran).Round(time.Second)))
			w.verdicts[i].Again = j.Since.Add(f.MinRun)
		}
	}
}

// wait is the walk on which nobody is parked, if all who would start by that are going
// to start soon enough anyway; nil if not.
func (f FirstFit) wait(m *Moment, eager *walk) *walk {
	w := begin(m)
	if fit := w.takeRunning(); !fit && m.Urgent {
		return nil
	}
	f.walk(w)
	o := w.future()
	for i := range w.jobs {
		if eager.verdicts[i].Wish != Run || w.verdicts[i].Wish == Run {
			continue
		}
		left, ends := w.jobs[i].Left()
		start, ok := o.Earliest(w.jobs[i].Need, left, ends, true)
		if !ok || start.Sub(m.Now) > f.Patience {
			return nil
		}
		o.Reserve(start, w.jobs[i].Need, left, ends)
		w.verdicts[i].Reason = "waits: there will be room by itself within " + start.Sub(m.Now).Round(time.Second).String() +
			", sooner than a suspension pays"
	}
	return w
}
