package journal

import (
	"time"

	"vjob/cluster"
)

// Meter is up to where the account of a vjob goes: a start of the scheduler continues from there.
type Meter struct {
	VJob cluster.VJobID
	At   time.Time
	CPU  []time.Duration // by rank: the CPU time of the present copy that is in the account
}
