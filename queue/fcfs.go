package queue

// FCFS is first come, first served, as batch schedulers without virtualisation do
// it: strictly in order, nobody passes a vjob that waits, and with static needs, so
// that what runs is never parked to make room. A vjob that its user or
// administrator suspended competes again in its order.
type FCFS struct{}

var _ Policy = FCFS{}

// Name is "fcfs".
func (FCFS) Name() string { return "fcfs" }

// Traits are what was reserved for VMs, and no suspensions, in strict order.
func (FCFS) Traits() Traits { return Traits{Needs: Reserved, Strict: true} }

// Select takes what runs, then the vjobs in order until the first that does not
// fit.
func (FCFS) Select(m *Input) []Verdict {
	w := newScan(m)
	w.takeBusy()
	w.takeRunning()
	var head *Job
	for i := range w.jobs {
		if w.decided[i] {
			continue
		}
		if head != nil {
			w.wait(i, "may not pass "+head.ID.String()+", which comes first")
			continue
		}
		ok, short := w.take(i)
		if ok {
			w.decide(i, Run, "runs: there is room")
			continue
		}
		w.refuse(i, short)
		if short.Limit == "" {
			head = &w.jobs[i]
		}
	}
	return w.estimateStarts()
}
