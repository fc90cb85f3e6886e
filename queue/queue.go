// Package queue decides which vjobs run now. A [Policy] scans the vjobs in priority order and asks
// a [Capacity] whether each still fits beside those already chosen. It returns a target and a
// reason for every vjob.
//
// Each policy has a file of its own and a line in the table of registry.go. scan.go holds what
// policies share, hysteresis.go what keeps them from suspensions that do not pay, and estimate.go
// the estimated starts. [Preemptible] and [WithGap] wrap any policy.
//
// The packages below are the rest of the queue: ordering and, for its factors, multifactor,
// fairshare and quota; reservation; and availability and forecast, capacity over time.
package queue

import (
	"fmt"
	"strings"
	"time"

	"vjob/cluster"
)

// Job is a vjob as a policy sees it.
type Job struct {
	*cluster.VJob
	// Busy: actions are under way that cannot be undone now. Bound is where they lead; the verdict
	// must be the same.
	Busy  bool
	Bound Target
	// Ran is the running time so far, suspensions excluded.
	Ran time.Duration
	// Since is when a running vjob was last started or resumed, or when a waiting one was
	// suspended.
	Since time.Time
	// Need is the sum of what its VMs count for.
	Need cluster.Resources
	// Level is that of its queue: time spent waiting moves no vjob before those of a higher level.
	Level int
	// Ineligible is why the vjob must not start now, such as a recent failure; "" if it may. It
	// does not delay later vjobs.
	Ineligible string
	// NonPreemptible is why a running vjob cannot be suspended now, such as missing space for its
	// images; "" if it can. It keeps its capacity even if it is held.
	NonPreemptible string
	// Gap is how long its capacity counts as taken after its walltime; see [WithGap].
	Gap time.Duration
	// Fixed is a verdict that the policy must return; may be nil.
	Fixed *Verdict
}

// Left returns the rest of the walltime with the gap; ends is false if the vjob has no walltime.
func (j *Job) Left() (left time.Duration, ends bool) {
	if j.Walltime <= 0 {
		return 0, false
	}
	return max(0, j.Walltime-j.Ran) + j.Gap, true
}

// Target is the state in which a policy wants a vjob.
type Target uint8

// The targets.
const (
	Wait    Target = iota // leave a ready vjob ready
	Run                   // boot, resume or keep running
	Suspend               // suspend a running or paused vjob to disk
	Pause                 // suspend it in memory: it stays on its nodes and uses no CPU
)

// String is the lower-case name.
func (w Target) String() string { return [...]string{"wait", "run", "suspend", "pause"}[w] }

// Verdict is the target of one vjob and the reason, in words with numbers, for users.
type Verdict struct {
	Target Target
	// Reason begins with the verb of the target, as in "runs: there is room" or "waits: needs 4 CPU more".
	Reason string
	// Cause is why a running or paused vjob is to stop, or that capacity is kept from a waiting one; nil: the reason says
	// it. It is shared and never changes.
	Cause *cluster.Cause
	// Again is when time alone changes the verdict; zero: never.
	Again time.Time
	// Start is the estimated start of a waiting or suspended vjob if all running ones use their
	// whole walltime; zero: unknown.
	Start time.Time
}

// Because returns the reason without its verb, as the cause of a start or a stop.
func (v *Verdict) Because() string {
	clause := v.Reason
	for _, verb := range []string{"runs", "suspended"} {
		clause = strings.TrimPrefix(clause, verb)
	}
	return strings.TrimPrefix(clause, ": ")
}

// Input is what a policy decides on.
type Input struct {
	Now      time.Time
	Jobs     []Job             // in the order in which they are to be looked at
	Total    cluster.Resources // what all nodes that take VMs have
	Capacity func() Capacity   // returns empty capacity
	// CapacityAt returns empty capacity with the power budgets of another instant, without quotas.
	// Nil: as Capacity.
	CapacityAt func(at time.Time) Capacity
	// Booked is capacity that is taken later, or now by vjobs that do not run yet.
	Booked []Booking
	// Urgent: vjobs are being suspended for a booking, so that patience does not apply.
	Urgent bool
}

// Booking is capacity that is reserved for a vjob.
type Booking struct {
	VJob   cluster.VJobID
	From   time.Time
	Length time.Duration // more than 0
	Need   cluster.Resources
}

// Until returns the end of the booking.
func (b *Booking) Until() time.Time { return b.From.Add(b.Length) }

// Covers reports whether the capacity is reserved at an instant.
func (b *Booking) Covers(at time.Time) bool { return !at.Before(b.From) && at.Before(b.Until()) }

// Policy selects the vjobs that run. Implementations are comparable values without state: equal
// input gives equal verdicts.
type Policy interface {
	// Name returns the name in settings and commands, such as "firstfit".
	Name() string
	// Traits returns the properties of the policy.
	Traits() Traits
	// Select returns one verdict for each job, in the order of the jobs.
	Select(m *Input) []Verdict
}

// Needs selects the CPU figure by which VMs are placed. Memory always counts as reserved.
type Needs uint8

// The ways to count CPU.
const (
	Reserved  Needs = iota // what the user asked for, from start to end (static)
	Observed               // what the VM needs now; a vjob that never ran counts as reserved
	Predicted              // as Observed, but what the VM is expected to need by its recent needs
	Assumed                // as Observed, but a vjob that never ran counts as needing no CPU (thesis §6.1.2)
)

// String returns the name in settings.
func (n Needs) String() string {
	return [...]string{"reserved", "observed", "predicted", "assumed"}[n]
}

// Capacity tells whether vjobs fit together. Vjobs are added one at a time.
type Capacity interface {
	// Take adds the vjob if the search finds a viable configuration with all those added before.
	// Otherwise it changes nothing and returns what is missing.
	Take(id cluster.VJobID) (ok bool, short Shortage)
}

// Shortage is why a vjob does not fit.
type Shortage struct {
	Missing cluster.Resources // beyond what is free in sum; zero if only the shape is wrong
	// Largest is the largest free piece, by CPU, if only the shape is wrong; zero: unknown.
	Largest cluster.Resources
	// Rule is a placement rule or another reason that prevents the start whatever is free, in words;
	// "" for none.
	Rule string
	// Limit is an exhausted quota or power budget, in words; "" for none. Later vjobs need not
	// wait for it.
	Limit string
	// Kept is the capacity that is kept free for other purposes, in words; "" for none. It is waited for like other
	// capacity.
	Kept string
	// Kind sorts the limit, such as a quota or a power budget, or what capacity is kept for.
	Kind cluster.CauseKind
}

// String returns the shortage for users: "needs 6 CPU and 2 GiB more".
func (s Shortage) String() string {
	m := s.Missing
	switch {
	case s.Limit != "":
		return s.Limit
	case s.Kept != "":
		return s.Kept
	case m.CPU > 0 && m.Memory > 0:
		return fmt.Sprintf("needs %s CPU and %s more", m.CPU, m.Memory)
	case m.CPU > 0:
		return fmt.Sprintf("needs %s CPU more", m.CPU)
	case m.Memory > 0:
		return fmt.Sprintf("needs %s more", m.Memory)
	case s.Rule != "":
		return "in the way is " + s.Rule
	case s.Largest != cluster.Resources{}:
		return fmt.Sprintf("the room that is free lies in pieces too small for its VMs, the largest has %s CPU and %s", s.Largest.CPU, s.Largest.Memory)
	default:
		return "the room that is free lies in pieces too small for its VMs"
	}
}
