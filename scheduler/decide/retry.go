package decide

import (
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/queue"
)

// retryFilter drops starting vjobs that the planner cannot place although the policy found room,
// until there is a plan. Each try starts fewer vjobs, so the others do not wait for them. A vjob
// that was dropped without being the cause comes back, at the latest in the next decision.
type retryFilter struct {
	view        *View
	targets     []queue.Verdict
	leftOut     map[int]queue.Verdict // dropped for a try, with their former verdicts
	step        int                   // how many to drop next
	relocated   map[int]bool          // another place was tried, see [planning.breaksReservation]
	lastStarter int                   // the only one left, dropped as well; -1 if none
}

func newRetryFilter(v *View, targets []queue.Verdict) retryFilter {
	return retryFilter{view: v, targets: targets, leftOut: map[int]queue.Verdict{}, relocated: map[int]bool{}, step: 1, lastStarter: -1}
}

// dropStarters drops starting vjobs. It reports whether there were any.
func (f *retryFilter) dropStarters(no *ctxswitch.NoPlan) bool {
	starters := f.starters()
	switch {
	case len(starters) == 0:
		return false
	case no.Unclear && len(starters) > 1:
		f.dropTail(starters, no)
		return true
	case no.Unclear: // if there is a plan without it, it is the cause
		f.lastStarter = starters[0]
		f.refuse(f.lastStarter, no)
		return true
	}
	some := false
	for _, n := range append([]*ctxswitch.NoPlan{no}, no.Also...) {
		if i := f.find(n.VJob, starters); i >= 0 {
			f.refuse(i, n)
			some = true
		}
	}
	if !some { // a running vjob has no place: the last starting vjob before it waits
		f.refuse(f.starterBefore(no.VJob, starters), no)
	}
	return true
}

// starters returns the starting vjobs, in order.
func (f *retryFilter) starters() (list []int) {
	for i := range f.view.VJobs {
		if r := &f.view.VJobs[i]; r.Idle && !r.Blind && r.Job.State.Ready() && f.targets[i].Target == queue.Run {
			list = append(list, i)
		}
	}
	return list
}

// dropTail drops the last starting vjobs, twice as many each time.
func (f *retryFilter) dropTail(starters []int, no *ctxswitch.NoPlan) {
	for _, i := range starters[max(1, len(starters)-f.step):] {
		f.leftOut[i] = f.targets[i]
		f.refuse(i, no)
	}
	f.step *= 2
}

// restore brings back the vjobs that were dropped because of another, once that one is known. It
// reports whether there are any.
func (f *retryFilter) restore() bool {
	if f.lastStarter < 0 || len(f.leftOut) == 0 {
		return false
	}
	for i, v := range f.leftOut {
		f.targets[i] = v
	}
	clear(f.leftOut)
	f.step, f.lastStarter = 1, -1
	return true
}

// refuse makes a vjob wait; if it is paused it is saved, to resume elsewhere.
func (f *retryFilter) refuse(i int, no *ctxswitch.NoPlan) {
	f.targets[i] = queue.Verdict{Target: queue.Wait, Reason: "waits: " + no.Reason}
	if f.view.VJobs[i].Job.State == cluster.Paused {
		f.targets[i].Target = queue.Suspend
	}
}

func (f *retryFilter) find(id cluster.VJobID, starters []int) int {
	if k := slices.IndexFunc(starters, func(i int) bool { return f.view.VJobs[i].Job.ID == id }); k >= 0 {
		return starters[k]
	}
	return -1
}

// starterBefore returns the last starting vjob before a vjob, or the last of all.
func (f *retryFilter) starterBefore(id cluster.VJobID, starters []int) int {
	at := slices.IndexFunc(f.view.VJobs, func(r execute.Report) bool { return r.Job.ID == id })
	k, _ := slices.BinarySearch(starters, at)
	if at < 0 || k == 0 {
		k = len(starters)
	}
	return starters[k-1]
}
