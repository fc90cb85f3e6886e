package queue

import (
	"slices"
	"time"

	"vjob/cluster"
)

// Apart is a policy that reckons with a gap after each vjob: its room is counted as free
// only so long after its walltime. Nobody is made to wait for it when a vjob ends early,
// for the gap is a margin of the reckoning and no rest of the nodes. OAR leaves 61 s, its
// time for what goes on after a job.
type Apart struct {
	Policy
	Gap time.Duration
}

var _ Policy = Apart{}

// Traits are those of the policy, with the gap.
func (a Apart) Traits() Traits {
	t := a.Policy.Traits()
	t.Gap = max(0, a.Gap)
	return t
}

// For is the policy of a vjob, with the gap.
func (a Apart) For(j *cluster.VJob) Policy { return Apart{For(a.Policy, j), a.Gap} }

// Select lets the policy choose among vjobs that seem to run for longer by the gap.
func (a Apart) Select(m *Input) []Verdict {
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
