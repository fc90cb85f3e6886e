package queue

import (
	"vjob/cluster"
	"vjob/queue/availability"
)

// profile returns the free capacity over time beside vjobs that run, are under way to run or are
// chosen to, and beside bookings.
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

// MaxEstimates bounds for how many vjobs a start is estimated: the first ones in line.
const MaxEstimates = 1000

// estimateStarts adds the estimated starts of waiting vjobs to the verdicts: each as early as it
// fits beside all earlier ones, if all use their whole walltime.
func (w *scan) estimateStarts() []Verdict {
	if len(w.waiting) == 0 {
		return w.verdicts
	}
	o := w.profile()
	for _, i := range w.waiting[:min(len(w.waiting), MaxEstimates)] {
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
