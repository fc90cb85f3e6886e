// Package decide is what one pass of the loop decides: from what is known of the cluster
// to what is wanted of each vjob, why, and the plan that leads there. A [View] is
// the cluster as a decision sees it, [View.Decide] takes the decision, and the same
// picture answers those who ask what would be if things were otherwise.
//
// It refuses to know how plans are carried out, what is written down, and when the next
// pass is due.
//
// To read it: [NewView] makes a picture of the [Facts] (picture.go); decision.go goes from
// wishes (consult.go: the policy in its room) by way of goals (goals.go) to a plan, and
// tries again with others where that fails (sieve.go: fewer wishes; aside.go: without those
// who spoil it). Everything else is a reason why a vjob does or does not run, a file each:
// containers, quotas, images, limits and rations of power, reservations, windows of time.
// Where nothing else is to be done it is asked where what runs would draw less
// (consolidate.go; saver.go: the numbers, saver_rules.go, saver_way.go: a plan and its price).
package decide

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/energy"
	"vjob/queue"
	"vjob/queue/ordering"
)

// Settings steer every decision.
type Settings struct {
	// Execute is how plans are carried out: what their actions cost, and how many
	// transfers go on at once.
	Execute execute.Settings
	Policy  queue.Policy
	// Arrangement is the order of vjobs, and who may run: queues, shares and quotas.
	// Nil: in order of the priorities that were submitted, and whoever.
	Arrangement *ordering.Rules
	Planner     ctxswitch.Planner
	Seed        uint64
	// Backoff is how long a vjob is left alone after its first failed attempt; it
	// doubles with each further one, up to 64 times.
	Backoff   time.Duration
	Reserving Reserving
	// Network is what transfers share; nil: nothing is known of it.
	Network *ctxswitch.Network
	Energy  Energy
	// Live lets VMs that a lock protects migrate while they run.
	Live bool
	// Suspend is where to vjobs are suspended.
	Suspend Suspension
}

// OrderingRules is the arrangement, or the plain one.
func (s *Settings) OrderingRules() *ordering.Rules {
	if s.Arrangement != nil {
		return s.Arrangement
	}
	plain := ordering.DefaultRules(s.Policy)
	return &plain
}

// Pause is how long a vjob is left alone after so many failures in a row.
func (s *Settings) Pause(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	return s.Backoff << min(failures-1, 6)
}

// Keeps reports whether a vjob that runs keeps its room until its end.
func (s *Settings) Keeps(job *cluster.VJob) bool {
	return queue.Preemptible{Policy: s.Policy}.Keeps(job)
}

// Needs counts a VM as the policy wants it counted (thesis §6.1.2), given what it was
// seen to use. Those that cannot be suspended when it turns out that they need more
// count for what they reserved, and so do those with a reservation.
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
		need.CPU = cpu // 0 for a VM that never ran
	case queue.Reserved:
	}
	return need
}

// Reserving says how vjobs may reserve room.
type Reserving struct {
	Horizon time.Duration // how far ahead a reservation may begin; 0: however far
	// Margin is how much earlier than it would have to others make room for a
	// reservation.
	Margin time.Duration
}

// Energy is what is known of power, and how shares of CPU are dealt out by it.
type Energy struct {
	// Power is what nodes draw, as far as it is known.
	Power map[cluster.NodeID]energy.Power
	// Yield is the most that VMs get of the CPU that they have reserved, unless their
	// floor is more; 0 is all of it.
	Yield float64
	// Lambda trades yield for power: 1 is for yield, near 0 for power; 0 is 1.
	Lambda float64
	// ShiftSaves is the part of the cost of a start at once that a later one has to save
	// for a flexible vjob to wait for it, from 0 to 1.
	ShiftSaves float64
}

// SharesCPU reports whether shares of CPU are dealt out even without a budget.
func (s *Energy) SharesCPU() bool {
	return s.Yield > 0 && s.Yield < 1 || s.Lambda > 0 && s.Lambda < 1
}
