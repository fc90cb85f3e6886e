package queue

import (
	"slices"
	"time"

	"vjob/cluster"
)

// WithGap adds a gap after the walltime of each vjob: its capacity counts as taken for that long.
// A gap is a safety margin of the forecast only. When a vjob ends early, others start at once.
// OAR leaves 61 s.
type WithGap struct {
	Policy
	Gap time.Duration
}

var _ Policy = WithGap{}

// Traits are those of the policy, with the gap.
func (a WithGap) Traits() Traits {
	t := a.Policy.Traits()
	t.Gap = max(0, a.Gap)
	return t
}

// For is the policy of a vjob, with the gap.
func (a WithGap) For(j *cluster.VJob) Policy { return WithGap{For(a.Policy, j), a.Gap} }

// Select asks the policy with each vjob longer by the gap.
func (a WithGap) Select(m *Input) []Verdict {
	if a.Gap <= 0 {
		return a.Policy.Select(m)
	}
	later := *m
	later.Jobs, later.Booked = slices.Clone(m.Jobs), slices.Clone(m.Booked)
	for i := range later.Jobs {
		later.Jobs[i].Gap = a.Gap
	}
	for i := range later.Booked {
		later.Booked[i].Length += a.Gap
	}
	return a.Policy.Select(&later)
}
