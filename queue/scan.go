package queue

import "vjob/cluster"

// scan is one run of a policy over the queue.
type scan struct {
	*Input
	jobs     []Job
	capacity Capacity
	verdicts []Verdict
	decided  []bool
	runs     []bool // the target is Run
	waiting  []int  // those that wait for capacity, in order
	line     line
}

// newScan decides the vjobs that are the same under all policies: those under way, ended or held.
func newScan(m *Input) *scan {
	jobs := m.Jobs
	w := &scan{
		Input: m, jobs: jobs, capacity: m.Capacity(),
		verdicts: make([]Verdict, len(jobs)), decided: make([]bool, len(jobs)), runs: make([]bool, len(jobs)),
	}
	for i, j := range jobs {
		switch {
		case j.Fixed != nil:
			w.decide(i, j.Fixed.Target, j.Fixed.Reason)
			w.verdicts[i] = *j.Fixed
		case j.State.Terminal():
			w.decide(i, Wait, "is "+j.State.String())
		case j.Busy:
			w.decide(i, j.Bound, "is "+j.State.String())
		case j.Held && j.State == cluster.Running:
			w.decide(i, Suspend, "suspended: it is held")
			w.verdicts[i].Cause = j.Hold
		case j.Held:
			w.decide(i, Wait, WhyHeld(j.VJob))
		case j.Ineligible != "" && j.State.Ready():
			w.decide(i, Wait, "waits: "+j.Ineligible)
		}
	}
	return w
}

// alreadyDecided reports whether a vjob is decided, and takes the capacity of one under way to run.
// It does so in the order of the queue: taken earlier, a running vjob would be suspended for a
// later one that is just being resumed.
func (w *scan) alreadyDecided(i int) bool {
	if !w.decided[i] {
		return false
	}
	if j := w.jobs[i]; j.Busy && j.Bound == Run {
		w.take(i)
	}
	return true
}

// takeBusy takes the capacity of vjobs under way to run before all others, for policies that never
// suspend.
func (w *scan) takeBusy() {
	for i, j := range w.jobs {
		if j.Busy && j.Bound == Run {
			w.take(i)
		}
	}
}

// takeRunning lets running vjobs keep their capacity and reports whether all fit. A vjob that no
// longer fits, because a node was lost, goes on: its VMs stay until another decision.
func (w *scan) takeRunning() (fit bool) {
	fit = true
	for i, j := range w.jobs {
		if !w.decided[i] && j.State == cluster.Running {
			ok, _ := w.take(i)
			fit = fit && ok
			w.decide(i, Run, "runs")
		}
	}
	return fit
}

func (w *scan) take(i int) (ok bool, short Shortage) { return w.capacity.Take(w.jobs[i].ID) }

func (w *scan) decide(i int, wish Target, reason string) {
	w.verdicts[i] = Verdict{Target: wish, Reason: reason}
	w.decided[i] = true
	w.runs[i] = wish == Run
}

// wait leaves a vjob in the queue and adds its position to the reason.
func (w *scan) wait(i int, why string) {
	w.decide(i, Wait, w.reason(why))
	w.waiting = append(w.waiting, i)
}

// refuse leaves a vjob in the queue that does not fit. A vjob with an exhausted quota or power
// budget has no position: it delays no other.
func (w *scan) refuse(i int, short Shortage) {
	if short.Limit == "" {
		w.wait(i, w.line.lacking(&short))
		w.verdicts[i].Cause = short.kept()
		return
	}
	w.decide(i, Wait, "waits: "+short.Limit)
}

// admit runs a vjob if it fits. Otherwise a running one is suspended and another waits.
func (w *scan) admit(i int) {
	if w.alreadyDecided(i) {
		return
	}
	ok, short := w.take(i)
	switch {
	case ok && w.jobs[i].State == cluster.Running:
		w.decide(i, Run, "runs")
	case ok:
		w.decide(i, Run, "runs: there is room")
	case w.jobs[i].State == cluster.Running:
		w.suspend(i, "to make room for "+w.earlierRunning(i), short)
	default:
		w.refuse(i, short)
	}
}

// suspend suspends a running vjob. If it exceeds a limit itself, that is the reason.
func (w *scan) suspend(i int, why string, short Shortage) {
	if short.Limit != "" {
		w.decide(i, Suspend, "suspended: "+short.Limit)
		w.verdicts[i].Cause = &cluster.Cause{Kind: short.Kind, Text: short.Limit}
		return
	}
	w.decide(i, Suspend, "suspended "+why+": "+short.String())
	w.verdicts[i].Cause = w.preempted(i, short)
}

// suspendsAny reports whether the scan suspends a running vjob that is not held.
func (w *scan) suspendsAny() bool {
	for i, v := range w.verdicts {
		if v.Target == Suspend && !w.jobs[i].Held && !w.jobs[i].Busy {
			return true
		}
	}
	return false
}

// inOrder decides on the jobs in another order, given by their indices.
func (m *Input) inOrder(order []int, choose func(*Input) []Verdict) []Verdict {
	inner := *m
	inner.Jobs = make([]Job, len(order))
	for k, i := range order {
		inner.Jobs[k] = m.Jobs[i]
	}
	verdicts := make([]Verdict, len(m.Jobs))
	for k, v := range choose(&inner) {
		verdicts[order[k]] = v
	}
	return verdicts
}
