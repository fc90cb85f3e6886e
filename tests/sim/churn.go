package sim

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// A vjob that starts or goes on more often than mostStarts within churnTime does so in vain:
// the shortest turns, tries and faults of the simulation explain some thirty.
const (
	mostStarts = 100
	churnTime  = 10 * time.Minute
)

// starts counts how often a vjob has started or gone on since an instant.
type starts struct {
	since time.Time
	times int
}

// churn checks that vjobs do not make room for each other without end.
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
