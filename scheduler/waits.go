package scheduler

import (
	"slices"
	"time"

	"vjob/cluster"
)

// WaitBounds are the upper bounds of the classes of waiting times.
var WaitBounds = []time.Duration{
	time.Second, 10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour,
	12 * time.Hour, 24 * time.Hour, 3 * 24 * time.Hour, 7 * 24 * time.Hour,
}

// Waits is a histogram of the times that vjobs waited from their submission to their first start.
type Waits struct {
	Classes []uint64 // how many waited at most as long as each of [WaitBounds] says, and longer than the one before
	Count   uint64
	Sum     time.Duration
}

// waits are the waiting times by queue since the start of the scheduler.
type waits map[string]*Waits

// observe counts a vjob that starts.
func (w waits) observe(job *cluster.VJob, now time.Time) {
	if w[job.Queue] == nil {
		w[job.Queue] = &Waits{Classes: make([]uint64, len(WaitBounds))}
	}
	h, wait := w[job.Queue], max(0, now.Sub(job.Submitted))
	if class, _ := slices.BinarySearch(WaitBounds, wait); class < len(WaitBounds) {
		h.Classes[class]++
	}
	h.Count++
	h.Sum += wait
}

// copied is a copy that does not change any more.
func (w waits) copied() map[string]Waits {
	list := make(map[string]Waits, len(w))
	for queue, h := range w {
		list[queue] = Waits{Classes: slices.Clone(h.Classes), Count: h.Count, Sum: h.Sum}
	}
	return list
}
