package queue

import (
	"cmp"
	"slices"
	"time"
)

// SJF is shortest job first with a bound on the wait: of those that wait, the vjob with the
// shortest walltime starts first, and a vjob without walltime comes last. A vjob that does
// not fit is passed, until it has waited for AgeBound: then it comes before all shorter ones
// of its level, and none behind it starts. No vjob is suspended.
type SJF struct {
	AgeBound time.Duration // more than 0
}

var _ Policy = SJF{}

var sjfParameters = []Parameter{{
	Name: "age_bound", Default: "24h", Parse: upTo("age_bound", 365*24*time.Hour),
	Usage: "`TIME` after which sjf starts a waiting vjob before shorter ones",
}}

func newSJF(a arguments) Policy { return SJF{AgeBound: a.duration("age_bound")} }

// Name is "sjf".
func (SJF) Name() string { return "sjf" }

// Traits are reserved needs and no suspensions.
func (SJF) Traits() Traits { return Traits{Needs: Reserved} }

// Select lets running vjobs go on and starts the others in the order of the policy.
func (s SJF) Select(m *Input) []Verdict {
	verdicts := m.inOrder(s.order(m), s.start)
	for i := range verdicts {
		j, v := &m.Jobs[i], &verdicts[i]
		if j.State.Ready() && v.Target != Run && v.Again.IsZero() && !s.overdue(j, m.Now) {
			v.Again = j.waitingSince().Add(s.AgeBound)
		}
	}
	return verdicts
}

// order returns the indices of the jobs: by level, overdue ones first, then by walltime.
func (s SJF) order(m *Input) []int {
	order := make([]int, len(m.Jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &m.Jobs[a], &m.Jobs[b]
		switch overdue := s.overdue(x, m.Now); {
		case x.Level != y.Level:
			return cmp.Compare(y.Level, x.Level)
		case overdue != s.overdue(y, m.Now):
			if overdue {
				return -1
			}
			return 1
		case overdue:
			return x.waitingSince().Compare(y.waitingSince())
		case x.Walltime > 0 && y.Walltime > 0:
			return cmp.Compare(x.Walltime, y.Walltime)
		default:
			return cmp.Compare(y.Walltime, x.Walltime)
		}
	})
	return order
}

// overdue reports whether a waiting vjob has waited for the bound.
func (s SJF) overdue(j *Job, now time.Time) bool {
	return j.State.Ready() && !j.Busy && now.Sub(j.waitingSince()) >= s.AgeBound
}

func (s SJF) start(m *Input) []Verdict {
	return startInOrder(m, func(j *Job) bool { return !s.overdue(j, m.Now) }, "has waited for more than "+s.AgeBound.String())
}
