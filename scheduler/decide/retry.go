package decide

import (
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/queue"
)

// retryFilter takes the wishes back for vjobs that the planner cannot start although the policy
// thought that there was room, until there is a plan. However many these are, who could
// start does not wait for them: each try has fewer vjobs that are to start, and whoever is
// left out without being the one in the way comes back, if not in this pass then in the
// next one, beside those that were started meanwhile.
type retryFilter struct {
	*View
	wished      []queue.Verdict
	leftOut     map[int]queue.Verdict // left out for a try, with what was wished of them
	step        int                   // how many are left out next
	relocated   map[int]bool          // were looked for elsewhere, see [View.breaksReservation]
	lastStarter int                   // the only one that was left, and is left out as well; -1: there is none
}

func newRetryFilter(p *View, wished []queue.Verdict) *retryFilter {
	return &retryFilter{View: p, wished: wished, leftOut: map[int]queue.Verdict{}, relocated: map[int]bool{}, step: 1, lastStarter: -1}
}

// dropStarters takes wishes back. It reports false when there are none that could be.
func (s *retryFilter) dropStarters(no *ctxswitch.NoPlan) bool {
	starters := s.starters()
	switch {
	case len(starters) == 0:
		return false
	case no.Unclear && len(starters) > 1:
		s.dropTail(starters, no)
		return true
	case no.Unclear: // if there is a plan without it, it is in the way
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
	if !some { // one that runs has no place: the last that is to start before it makes room
		s.refuse(s.starterBefore(no.VJob, starters), no)
	}
	return true
}

// starters are those that are to start, in order.
func (s *retryFilter) starters() (list []int) {
	for i := range s.VJobs {
		if r := &s.VJobs[i]; r.Idle && !r.Blind && r.Job.State.Ready() && s.wished[i].Target == queue.Run {
			list = append(list, i)
		}
	}
	return list
}

// dropTail leaves the last of several out, each time more of them.
func (s *retryFilter) dropTail(starters []int, no *ctxswitch.NoPlan) {
	for _, i := range starters[max(1, len(starters)-s.step):] {
		s.leftOut[i] = s.wished[i]
		s.refuse(i, no)
	}
	s.step *= 2
}

// restore lets those be tried again that were left out because of another, once that is known.
// It reports whether there are any.
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

// refuse leaves a vjob where it is; if it stands still in memory, it is saved, to be
// resumed elsewhere.
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

// starterBefore is the last that is to start before a vjob, or the last of all.
func (s *retryFilter) starterBefore(id cluster.VJobID, starters []int) int {
	at := slices.IndexFunc(s.VJobs, func(r execute.Report) bool { return r.Job.ID == id })
	k, _ := slices.BinarySearch(starters, at)
	if at < 0 || k == 0 {
		k = len(starters)
	}
	return starters[k-1]
}
