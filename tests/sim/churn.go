package sim

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// A vjob that starts or resumes mostStarts times within churnTime makes no progress: the shortest
// time slices, retries and faults of the simulation explain about thirty starts.
const (
	mostStarts = 100
	churnTime  = 10 * time.Minute
)

// starts counts the starts and resumes of a vjob since an instant.
type starts struct {
	since time.Time
	times int
}

// churn checks that vjobs do not preempt each other in turn for ever.
func (k *Checker) churn(c journal.VJobChange) {
	if c.State != cluster.Booting && c.State != cluster.Resuming {
		return
	}
	s, now := k.starts[c.ID], k.cluster.Now()
	if now.Sub(s.since) > churnTime {
		s = starts{since: now}
	}
	if s.times++; s.times == mostStarts {
		k.violate(31, "vjob %s has started %d times within %s", c.ID, s.times, churnTime)
	}
	k.starts[c.ID] = s
}
