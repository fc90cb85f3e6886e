package queue

import "vjob/cluster"

// FCFS is first come, first served, as batch schedulers without virtualisation do
// it: strictly in order, nobody passes a vjob that waits, and with static needs, so
// that what runs is never parked to make room. A vjob that its user or
// administrator suspended competes again in its order.
type FCFS struct{}

var _ Policy = FCFS{}

// Name is "fcfs".
func (FCFS) Name() string { return "fcfs" }

// Needs counts what was reserved.
func (FCFS) Needs() Needs { return Reserved }

// Select takes what runs, then the vjobs in order until the first that does not
// fit.
func (FCFS) Select(jobs []Job, room Room) []Verdict {
	w := begin(jobs, room)
	w.takeBusy()
	for i, j := range jobs {
		if !w.settled[i] && j.State == cluster.Running {
			// Should it fit no more, because a node was lost, it goes on all the
			// same: its VMs are where they are until somebody decides otherwise.
			w.take(i)
			w.settle(i, Run, "runs")
		}
	}
	var head *Job
	for i := range jobs {
		if w.settled[i] {
			continue
		}
		if head != nil {
			w.wait(i, "may not pass "+head.ID.String()+", which comes first")
			continue
		}
		if ok, short := w.take(i); ok {
			w.settle(i, Run, "runs: there is room")
		} else {
			w.wait(i, short.String())
			head = &jobs[i]
		}
	}
	return w.verdicts
}
