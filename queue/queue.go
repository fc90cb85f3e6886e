// Package queue decides which vjobs should run now. A [Policy] walks the vjobs
// in priority order and asks a [Capacity] whether each still fits beside those
// already chosen; the result says for every vjob what is wished and why.
//
// It is pure. It refuses to know where VMs are placed, and how the cluster gets from
// here to there.
//
// Each policy has a file of its own; walk.go is what they have in common, calm.go keeps
// them from suspending in vain, settle.go from doing so at once, due.go brings those forward that have waited for long
// enough, and foretell.go estimates starts. [Preemptible] and [Apart] go round any policy.
// The packages below are the rest of the queue: queues, rank, fairshare and quota say who
// comes when (arrangement joins them), reservation who has room from an instant on;
// profile, ceiling, outlook and forecast are room over time, and backfill the policies
// again for jobs without places, to compare with others' results.
package queue

import (
	"fmt"
	"time"

	"vjob/cluster"
)

// Job is what a policy knows of one vjob.
type Job struct {
	*cluster.VJob
	// Busy: actions are under way that cannot be taken back now. Bound tells
	// where they lead; the policy may not wish anything else.
	Busy  bool
	Bound Target
	// Ran is the running time so far, suspensions excluded.
	Ran time.Duration
	// Since is when a running vjob was last started or resumed, and when one that waits was
	// suspended, if it was.
	Since time.Time
	// Need is what its VMs count for in sum.
	Need cluster.Resources
	// Level is that of its queue: however long others have waited, they do not come before
	// those of a higher one on that account.
	Level int
	// Ineligible says why the vjob must not be started now, e.g. that it has just
	// failed to; "" when nothing bars it. It does not hold up those behind it.
	Ineligible string
	// NonPreemptible says why a vjob that runs cannot be suspended now, e.g. that there is no room for
	// its images; "" when nothing keeps it from that. It keeps its room meanwhile, also if
	// it is held.
	NonPreemptible string
	// Gap is for how long after its walltime its room counts as taken; see [Apart].
	Gap time.Duration
	// Fixed is a verdict that stands before the policy is asked; nil: there is none.
	Fixed *Verdict
}

// Left is how long the vjob may still run, with its gap; it reports false if that has no end.
func (j *Job) Left() (left time.Duration, ends bool) {
	if j.Walltime <= 0 {
		return 0, false
	}
	return max(0, j.Walltime-j.Ran) + j.Gap, true
}

// Target is what a policy wants of a vjob.
type Target uint8

// The wishes.
const (
	Wait    Target = iota // leave a ready vjob ready
	Run                   // let it run: boot, resume, or go on
	Suspend               // suspend it to disk: it runs and has to make room, or stands still
	Pause                 // suspend it in memory: it stands still where it is, and uses no CPU
)

// String is the lower-case name.
func (w Target) String() string { return [...]string{"wait", "run", "suspend", "pause"}[w] }

// Verdict is the wish for one vjob and the reason, in words with numbers, for
// the people who ask.
type Verdict struct {
	Target Target
	Reason string
	// Again is when time alone will change the verdict; zero: it will not.
	Again time.Time
	// Start is when a vjob that waits or makes room is estimated to start or to go on, if
	// all that run use up their walltime; zero: that cannot be known.
	Start time.Time
}

// Input is what a policy decides on.
type Input struct {
	Now      time.Time
	Jobs     []Job             // in the order in which they are to be looked at
	Total    cluster.Resources // what all nodes that take VMs have
	Capacity func() Capacity   // an empty room at each call
	// CapacityAt is likewise for another moment, with the budgets of power that hold then, but
	// without quotas. Nil is as Room.
	CapacityAt func(at time.Time) Capacity
	// Booked is room that is taken later, or from now on by vjobs that do not run yet.
	Booked []Booking
	// Urgent: room is being made for what is booked, and nobody's patience counts.
	Urgent bool
}

// Booking is room that is kept for a vjob.
type Booking struct {
	VJob   cluster.VJobID
	From   time.Time
	Length time.Duration // more than 0
	Need   cluster.Resources
}

// Until is when the room is free again.
func (b *Booking) Until() time.Time { return b.From.Add(b.Length) }

// Covers reports whether the room is kept at an instant.
func (b *Booking) Covers(at time.Time) bool { return !at.Before(b.From) && at.Before(b.Until()) }

// Policy selects the vjobs that run. Implementations are values without state:
// the same jobs and room give the same verdicts.
type Policy interface {
	// Name is how settings and commands call the policy, e.g. "firstfit".
	Name() string
	// Traits are the properties of the policy.
	Traits() Traits
	// Select gives one verdict per job, in the order of the jobs.
	Select(m *Input) []Verdict
}

// Needs says by which CPU figure VMs are packed. Memory always counts as
// reserved.
type Needs uint8

// The ways to count CPU.
const (
	Reserved  Needs = iota // what the user asked for, from start to end (static)
	Observed               // what the VM needs now; a vjob that never ran counts as reserved
	Predicted              // as Observed, but what the VM is expected to need by what it needed of late
	Assumed                // as Observed, but a vjob that never ran counts as needing no CPU (thesis §6.1.2)
)

// String returns the name in settings.
func (n Needs) String() string {
	return [...]string{"reserved", "observed", "predicted", "assumed"}[n]
}

// Capacity tells whether vjobs fit together. It is filled one vjob at a time.
type Capacity interface {
	// Take adds the vjob when a viable configuration with all those taken before
	// exists, as far as the search can tell. Otherwise nothing changes and the
	// shortage says what is missing.
	Take(id cluster.VJobID) (ok bool, short Shortage)
}

// Shortage is why a vjob does not fit.
type Shortage struct {
	Missing cluster.Resources // more than is free in sum; zero when only the shape is wrong
	// Largest is the largest piece that is free where only the shape is wrong, by its CPU;
	// zero: not known.
	Largest cluster.Resources
	// Rule is a placement rule that stands in the way, or another reason why no
	// room would help, in words; "" when there is none.
	Rule string
	// Limit is a quota or a power budget that is used up, in words; "" when none is. More
	// room would not help, and those behind need not wait for it.
	Limit string
}

// String tells the shortage to people: "needs 6 CPU and 2 GiB more".
func (s Shortage) String() string {
	m := s.Missing
	switch {
	case s.Limit != "":
		return s.Limit
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
