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
	*View
	wished      []queue.Verdict
	leftOut     map[int]queue.Verdict // dropped for a try, with their former verdicts
	step        int                   // how many to drop next
	relocated   map[int]bool          // another place was tried, see [View.breaksReservation]
	lastStarter int                   // the only one left, dropped as well; -1 if none
}

func newRetryFilter(p *View, wished []queue.Verdict) *retryFilter {
	return &retryFilter{View: p, wished: wished, leftOut: map[int]queue.Verdict{}, relocated: map[int]bool{}, step: 1, lastStarter: -1}
}

// dropStarters drops starting vjobs. It reports whether there were any.
func (s *retryFilter) dropStarters(no *ctxswitch.NoPlan) bool {
	starters := s.starters()
	switch {
	case len(starters) == 0:
		return false
	case no.Unclear && len(starters) > 1:
		s.dropTail(starters, no)
		return true
	case no.Unclear: // if there is a plan without it, it is the cause
		s.lastStarter = starters[0]
		s.refuse(s.lastStarter, no)
		return true
	}
	some := false
	for _, n := range append([]*ctxswitch.NoPlan{no}, no.Also...) {
		if i := s.find(n.VJob, starters); i >= 0 {
			s.refuse(i, n)
			some = true
		}
	}
	if !some { // a running vjob has no place: the last starting vjob before it waits
		s.refuse(s.starterBefore(no.VJob, starters), no)
	}
	return true
}

// starters returns the starting vjobs, in order.
func (s *retryFilter) starters() (list []int) {
	for i := range s.VJobs {
		if r := &s.VJobs[i]; r.Idle && !r.Blind && r.Job.State.Ready() && s.wished[i].Target == queue.Run {
			list = append(list, i)
		}
	}
	return list
}

// dropTail drops the last starting vjobs, twice as many each time.
func (s *retryFilter) dropTail(starters []int, no *ctxswitch.NoPlan) {
	for _, i := range starters[max(1, len(starters)-s.step):] {
		s.leftOut[i] = s.wished[i]
		s.refuse(i, no)
	}
	s.step *= 2
}

// restore brings back the vjobs that were dropped because of another, once that one is known. It
// reports whether there are any.
func (s *retryFilter) restore() bool {
	if s.lastStarter < 0 || len(s.leftOut) == 0 {
		return false
	}
	for i, v := range s.leftOut {
		s.wished[i] = v
	}
	clear(s.leftOut)
	s.step, s.lastStarter = 1, -1
	return true
}

// refuse makes a vjob wait; if it is paused it is saved, to resume elsewhere.
func (s *retryFilter) refuse(i int, no *ctxswitch.NoPlan) {
	s.wished[i] = queue.Verdict{Target: queue.Wait, Reason: "waits: " + no.Reason}
	if s.VJobs[i].Job.State == cluster.Paused {
		s.wished[i].Target = queue.Suspend
	}
}

func (s *retryFilter) find(id cluster.VJobID, starters []int) int {
	if k := slices.IndexFunc(starters, func(i int) bool { return s.VJobs[i].Job.ID == id }); k >= 0 {
		return starters[k]
	}
	return -1
}

// starterBefore returns the last starting vjob before a vjob, or the last of all.
func (s *retryFilter) starterBefore(id cluster.VJobID, starters []int) int {
	at := slices.IndexFunc(s.VJobs, func(r execute.Report) bool { return r.Job.ID == id })
	k, _ := slices.BinarySearch(starters, at)
	if at < 0 || k == 0 {
		k = len(starters)
	}
	return starters[k-1]
}
