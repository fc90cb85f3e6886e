package queue

import "vjob/cluster"

// FirstFit is the dynamic scheduler of thesis §9.2: in order of priority, each
// vjob runs for which there is room beside those chosen before it. So small vjobs
// pass large ones that wait; a running vjob that fits no longer, because those
// before it need more, is parked; and a large one gets its turn as soon as there
// is room for it beside those before it, at the expense of those after it.
type FirstFit struct {
	// Count is the CPU that VMs count for; the thesis has [Assumed].
	Count Needs
}

var _ Policy = FirstFit{}

// Name is "firstfit".
func (FirstFit) Name() string { return "firstfit" }

// Needs is what the field Count says.
func (f FirstFit) Needs() Needs { return f.Count }

// Select walks the queue once.
func (FirstFit) Select(jobs []Job, room Room) []Verdict {
	w := begin(jobs, room)
	for i, j := range jobs {
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
			w.wait(i, short.String())
		}
	}
	return w.verdicts
}
