package decide

import (
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/queue"
)

// sieve takes the wishes back for vjobs that the planner cannot start although the policy
// thought that there was room, until there is a plan. However many these are, who could
// start does not wait for them: each try has fewer vjobs that are to start, and whoever is
// left out without being the one in the way comes back, if not in this pass then in the
// next one, beside those that were started meanwhile.
type sieve struct {
	*View
	wished []queue.Verdict
	shed   map[int]queue.Verdict // left out for a try, with what was wished of them
	step   int                   // how many are left out next
	moved  map[int]bool          // were looked for elsewhere, see [View.betrays]
	last   int                   // the only one that was left, and is left out as well; -1: there is none
}

func newSieve(p *View, wished []queue.Verdict) *sieve {
	return &sieve{View: p, wished: wished, shed: map[int]queue.Verdict{}, moved: map[int]bool{}, step: 1, last: -1}
}

// giveUp takes wishes back. It reports false when there are none that could be.
func (s *sieve) giveUp(no *ctxswitch.NoPlan) bool {
	starters := s.starters()
	switch {
	case len(starters) == 0:
		return false
	case no.Unclear && len(starters) > 1:
		s.halve(starters, no)
		return true
	case no.Unclear: // if there is a plan without it, it is in the way
		s.last = starters[0]
		s.refuse(s.last, no)
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
		s.refuse(s.before(no.VJob, starters), no)
	}
	return true
}

// starters are those that are to start, in order.
func (s *sieve) starters() (list []int) {
	for i := range s.VJobs {
		if r := &s.VJobs[i]; r.Idle && !r.Blind && r.Job.State.Ready() && s.wished[i].Target == queue.Run {
			list = append(list, i)
		}
	}
	return list
}

// halve leaves the last of several out, each time more of them.
func (s *sieve) halve(starters []int, no *ctxswitch.NoPlan) {
	for _, i := range starters[max(1, len(starters)-s.step):] {
		s.shed[i] = s.wished[i]
		s.refuse(i, no)
	}
	s.step *= 2
}

// more lets those be tried again that were left out because of another, once that is known.
// It reports whether there are any.
func (s *sieve) more() bool {
	if s.last < 0 || len(s.shed) == 0 {
		return false
	}
	for i, v := range s.shed {
		s.wished[i] = v
	}
	clear(s.shed)
	s.step, s.last = 1, -1
	return true
}

// refuse leaves a vjob where it is; if it stands still in memory, it is saved, to be
// resumed elsewhere.
func (s *sieve) refuse(i int, no *ctxswitch.NoPlan) {
	s.wished[i] = queue.Verdict{Target: queue.Wait, Reason: "waits: " + no.Reason}
	if s.VJobs[i].Job.State == cluster.Paused {
		s.wished[i].Target = queue.Suspend
	}
}

func (s *sieve) find(id cluster.VJobID, starters []int) int {
	if k := slices.IndexFunc(starters, func(i int) bool { return s.VJobs[i].Job.ID == id }); k >= 0 {
		return starters[k]
	}
	return -1
}

// before is the last that is to start before a vjob, or the last of all.
func (s *sieve) before(id cluster.VJobID, starters []int) int {
	at := slices.IndexFunc(s.VJobs, func(r execute.Report) bool { return r.Job.ID == id })
	k, _ := slices.BinarySearch(starters, at)
	if at < 0 || k == 0 {
		k = len(starters)
	}
	return starters[k-1]
}
