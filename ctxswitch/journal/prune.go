package journal

import "time"

// Retention is how long the history is kept. 0 is for ever.
type Retention struct {
	Events time.Duration // but for those of vjobs that live: they are kept
	Plans  time.Duration // after their end, and the calls and recommendations as long
	VJobs  time.Duration // after their end, and what was drawn and used in each hour as long
	Audit  time.Duration
}

// Horizon is how far back the history is wanted: what is older may be deleted. The
// zero time keeps all of its kind.
type Horizon struct {
	Events, Plans, VJobs, Charges, Energy, Audit time.Time
}

// Horizon is what may be deleted at an instant.
func (r Retention) Horizon(now time.Time) Horizon {
	back := func(keep time.Duration) time.Time {
		if keep <= 0 {
			return time.Time{}
		}
		return now.Add(-keep)
	}
	return Horizon{Events: back(r.Events), Plans: back(r.Plans), VJobs: back(r.VJobs), Energy: back(r.VJobs), Audit: back(r.Audit)}
}

// Pruned counts what was deleted of the history.
type Pruned struct {
	Events, Calls, Plans, Recommendations, VJobs, Charges, Energy, Usage, Alarms, Audit int
}

// Plus is the sum of both.
func (p Pruned) Plus(o Pruned) Pruned {
	return Pruned{p.Events + o.Events, p.Calls + o.Calls, p.Plans + o.Plans, p.Recommendations + o.Recommendations, p.VJobs + o.VJobs, p.Charges + o.Charges, p.Energy + o.Energy, p.Usage + o.Usage, p.Alarms + o.Alarms, p.Audit + o.Audit}
}

// Total is what all vjobs of an owner have used so far, those included that were
// deleted from the history. Seconds are floats: nanoseconds of a large cluster
// would exceed 64 bits within weeks.
type Total struct {
	Owner      string
	RunningSec float64 // time in Running
	CPUSec     float64 // CPU time that guests got
	WantedSec  float64 // CPU time that they would have used, had they got all they need
	MemorySec  int64   // MiB·s on nodes
	Joules     int64   // energy that their shares of the nodes have drawn
}
