package queue

import (
	"time"

	"vjob/cluster"
)

// NextChange returns when time alone may change the verdict of a policy on a waiting vjob behind all others, as long as
// there is no room for it; zero: never.
func NextChange(p Policy, j Job, now time.Time) time.Time {
	m := &Input{Now: now, Jobs: []Job{j}, Capacity: func() Capacity { return full{} }}
	return p.Select(m)[0].Again
}

// full is capacity without room.
type full struct{}

// Take implements [Capacity].
func (full) Take(cluster.VJobID) (ok bool, short Shortage) { return false, Shortage{} }
