package decide

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/energy"
	"vjob/queue"
	"vjob/queue/ordering"
	"vjob/queue/pool"
)

// Settings configure every decision.
type Settings struct {
	// Execute configures how plans are carried out: the costs of actions and the number of parallel
	// transfers.
	Execute execute.Settings
	Policy  queue.Policy
	// Ordering is the order of vjobs and their admission: queues, shares and quotas. Nil: the
	// order of the submitted priorities, for all users.
	Ordering *ordering.Settings
	Planner  ctxswitch.Planner
	Seed     uint64
	// Backoff is the pause after the first failed attempt of a vjob; it doubles with each further
	// one, up to 64 times.
	Backoff      time.Duration
	Reservations ReservationSettings
	// Network is what transfers share; nil if unknown.
	Network *ctxswitch.Network
	Energy  Energy
	// Live lets VMs protected by a lock migrate while they run.
	Live bool
	// Suspend selects disk or memory.
	Suspend Suspension
	// Pools are those of the settings; pools stated through the API are facts.
	Pools []pool.Pool
	// EntitleEvery is the longest time between two divisions of the cluster among the pools; 0 is 5 minutes.
	EntitleEvery time.Duration
	// Failover is of how many nodes at once the VMs find places on the others; 0 keeps no capacity for that.
	Failover int
	// Lookahead is how far ahead changes of budgets and quotas count; 0 is a week.
	Lookahead time.Duration
}

// lookahead returns how far ahead changes of budgets and quotas count.
func (s *Settings) lookahead() time.Duration {
	if s.Lookahead > 0 {
		return s.Lookahead
	}
	return 7 * 24 * time.Hour
}

// OrderingRules returns the ordering rules, or the defaults of the policy.
func (s *Settings) OrderingRules() *ordering.Settings {
	if s.Ordering != nil {
		return s.Ordering
	}
	plain := ordering.DefaultSettings(s.Policy)
	return &plain
}

// Pause returns the back-off after so many failures in a row.
func (s *Settings) Pause(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	return s.Backoff << min(failures-1, 6)
}

// Keeps reports whether a running vjob keeps its resources until its end.
func (s *Settings) Keeps(job *cluster.VJob) bool {
	return queue.Preemptible{Policy: s.Policy}.Keeps(job)
}

// keepsUntilEnd reports whether a running vjob keeps its resources until its end.
func (s *Settings) keepsUntilEnd(job *cluster.VJob) bool {
	return !job.Reservation.IsZero() || s.Keeps(job)
}

// Needs returns what a VM counts for under the policy (thesis §6.1.2), given its observed use.
// vjobs that cannot be suspended if they need more count for what they reserved, and so do vjobs
// with a reservation.
func (s *Settings) Needs(job *cluster.VJob, rank int, cpu cluster.MilliCPU, seen bool) cluster.Resources {
	need := job.VMs[rank].Reserved
	if job.Preemption != cluster.BySuspension || !job.Reservation.IsZero() {
		return need
	}
	switch s.Policy.Traits().Needs {
	case queue.Observed, queue.Predicted:
		if seen {
			need.CPU = cpu
		}
	case queue.Assumed:
		need.CPU = cpu // 0 for a VM that has never run
	case queue.Reserved:
	}
	return need
}

// ReservationSettings configures reservations.
type ReservationSettings struct {
	Horizon time.Duration // how far ahead a reservation may begin; 0 is unlimited
	// Margin is added to the time by which nodes are cleared before a reservation.
	Margin time.Duration
}

// Energy configures power models and CPU shares.
type Energy struct {
	// Power holds the power models of nodes, as far as they are known.
	Power map[cluster.NodeID]energy.Power
	// Yield is the largest fraction of its reserved CPU that a VM gets, unless its minimum share is
	// more; 0 is all of it.
	Yield float64
	// Lambda trades yield for power: 1 is for yield, near 0 for power; 0 is 1.
	Lambda float64
	// ShiftSaves is the fraction of its energy cost, from 0 to 1, that a later start has to save for
	// a flexible vjob to wait for it.
	ShiftSaves float64
}

// SharesCPU reports whether CPU shares are computed even without a budget.
func (s *Energy) SharesCPU() bool {
	return s.Yield > 0 && s.Yield < 1 || s.Lambda > 0 && s.Lambda < 1
}
