package queue

// FCFS is first come, first served, as in batch schedulers without virtualisation: strictly in
// order, no vjob passes an earlier one that waits, and running vjobs are never suspended. A vjob
// that a user or administrator suspended waits in its place of the order.
type FCFS struct{}

var _ Policy = FCFS{}

// Name is "fcfs".
func (FCFS) Name() string { return "fcfs" }

// Traits are strict order, reserved needs and no suspensions.
func (FCFS) Traits() Traits { return Traits{Needs: Reserved, Strict: true} }

// Select keeps running vjobs and starts others in order until one does not fit.
func (FCFS) Select(m *Input) []Verdict {
	return startInOrder(m, func(*Job) bool { return false }, "comes first")
}

// startInOrder keeps running vjobs and starts others in order, until one does not fit for which passable is
// false; why completes the reason of the vjobs behind it.
func startInOrder(m *Input, passable func(*Job) bool, why string) []Verdict {
	w := newScan(m)
	w.takeBusy()
	w.takeRunning()
	var head *Job
	for i := range w.jobs {
		if w.decided[i] {
			continue
		}
		if head != nil {
			w.wait(i, "may not pass "+head.ID.String()+", which "+why)
			continue
		}
		ok, short := w.take(i)
		if ok {
			w.decide(i, Run, "runs: there is room")
			continue
		}
		w.refuse(i, short)
		if short.Limit == "" && !passable(&w.jobs[i]) {
			head = &w.jobs[i]
		}
	}
	return w.estimateStarts()
}
