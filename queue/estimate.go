package queue

import (
	"vjob/cluster"
	"vjob/queue/availability"
)

// profile is the outlook beside all that runs, is under way to run, or is to, and what is
// booked.
func (w *scan) profile() *availability.Profile {
	o := availability.New(w.Now, w.Total, cluster.Resources{})
	for i := range w.jobs {
		if w.runs[i] {
			left, ends := w.jobs[i].Left()
			o.Occupy(w.jobs[i].Need, left, ends)
		}
	}
	for _, b := range w.Booked {
		o.Book(b.From, b.Need, b.Length)
	}
	return o
}

// maxEstimates is for how many vjobs a start is estimated: an estimate far down the
// line is of no use to anybody.
const maxEstimates = 1000

// estimateStarts completes the verdicts: when those that wait will start, each as early as it
// can beside all before it, if all use up their walltime.
func (w *scan) estimateStarts() []Verdict {
	if len(w.waiting) == 0 {
		return w.verdicts
	}
	o := w.profile()
	for _, i := range w.waiting[:min(len(w.waiting), maxEstimates)] {
		left, ends := w.jobs[i].Left()
		start, ok := o.Earliest(w.jobs[i].Need, left, ends, true)
		if !ok {
			continue
		}
		w.verdicts[i].Start = start
		o.Reserve(start, w.jobs[i].Need, left, ends)
	}
	return w.verdicts
}
