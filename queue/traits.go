package queue

import (
	"time"

	"vjob/cluster"
)

// Traits are the properties of a policy on which other packages depend. Each policy
// declares its own; those of several queues together are what holds for the whole, and
// [For] finds the policy of one vjob.
type Traits struct {
	Needs Needs // how VMs are counted
	// Strict: no vjob starts before an earlier one, unless that waits for a quota.
	Strict bool
	// Preempts: running vjobs may be suspended for others.
	Preempts bool
	// Turns: a running vjob is suspended when its time slice is over, not as soon as an
	// earlier one needs its capacity.
	Turns bool
	Gap   time.Duration // for which the capacity of a vjob counts as taken after its walltime
}

// keeps reports whether a running vjob keeps its capacity until its end, whichever others
// come. With time slices that is a vjob which would start anew with each turn.
func (t Traits) keeps(j *cluster.VJob) bool {
	return !t.Preempts || t.Turns && j.Preemption != cluster.BySuspension
}

// For returns the policy that decides on a vjob: p itself, unless it is composed of others.
func For(p Policy, j *cluster.VJob) Policy {
	if composed, ok := p.(interface{ For(*cluster.VJob) Policy }); ok {
		return composed.For(j)
	}
	return p
}

// Keeps reports whether a running vjob keeps its capacity until its end under its policy.
func Keeps(p Policy, j *cluster.VJob) bool { return For(p, j).Traits().keeps(j) }
