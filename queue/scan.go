package queue

import (
	"fmt"

	"vjob/cluster"
)

// scan is a policy's way through the queue. What the policies have in common is
// settled at its beginning: vjobs that are under way, over, or held.
type scan struct {
	*Input
	jobs     []Job
	capacity Capacity
	verdicts []Verdict
	decided  []bool
	runs     []bool // is to run
	waiting  []int  // those that wait for room, in order
}

// newScan settles the vjobs on which a policy has no say.
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
		case j.Held:
			w.decide(i, Wait, WhyHeld(j.VJob))
		case j.Ineligible != "" && j.State.Ready():
			w.decide(i, Wait, "waits: "+j.Ineligible)
		}
	}
	return w
}

// alreadyDecided counts a settled vjob when its turn comes. One that is under way to run
// takes its room in its order, not before: otherwise a running vjob would be
// parked for one behind it that happens to be resumed just now.
func (w *scan) alreadyDecided(i int) bool {
	if !w.decided[i] {
		return false
	}
	if j := w.jobs[i]; j.Busy && j.Bound == Run {
		w.take(i)
	}
	return true
}

// takeBusy lets those that are under way to run take their room before anybody
// else, for policies that never park: nobody is to be started in their room.
func (w *scan) takeBusy() {
	for i, j := range w.jobs {
		if j.Busy && j.Bound == Run {
			w.take(i)
		}
	}
}

// takeRunning lets those that run keep their room. Should one fit no more, because a
// node was lost, it goes on all the same: its VMs are where they are until somebody
// decides otherwise. It reports whether all fit.
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

// wait leaves a vjob in the queue and tells its place there.
func (w *scan) wait(i int, why string) {
	w.decide(i, Wait, fmt.Sprintf("waits: %s; %s", why, w.position()))
	w.waiting = append(w.waiting, i)
}

// refuse leaves a vjob in the queue that does not fit. One for which a quota or a power budget
// is used up has no place in line: it holds up no other.
func (w *scan) refuse(i int, short Shortage) {
	if short.Limit == "" {
		w.wait(i, short.String())
		return
	}
	w.decide(i, Wait, "waits: "+short.Limit)
}

// admit lets a vjob run if it fits; else it makes room, or waits for some.
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

// suspend has a vjob that runs make room. One for which there is less of something than there
// was, as of power, does not do it for others.
func (w *scan) suspend(i int, why string, short Shortage) {
	if short.Limit != "" {
		w.decide(i, Suspend, "suspended: "+short.Limit)
		return
	}
	w.decide(i, Suspend, "suspended "+why+": "+short.String())
}

// suspendsAny reports whether a running vjob is to be parked that nobody holds.
func (w *scan) suspendsAny() bool {
	for i, v := range w.verdicts {
		if v.Target == Suspend && !w.jobs[i].Held && !w.jobs[i].Busy {
			return true
		}
	}
	return false
}

// inOrder has a moment decided on in another order of its jobs.
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
