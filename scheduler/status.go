package scheduler

import (
	"cmp"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/duration"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/queue"
	"vjob/scheduler/entitlement"
	"vjob/scheduler/failover"
	"vjob/scheduler/improve"
	"vjob/scheduler/powercap"
)

// Snapshot is the state of the loop at one instant. It does not change after it was published.
type Snapshot struct {
	At            time.Time
	Ready         bool   // the first decision since the start has been taken
	Broken        string // why the journal cannot be read or written; "" if it can
	Policy        string
	Nodes         []*NodeStatus
	Declared      []cluster.Node // the nodes without what is observed of them
	Rules         RulesStatus
	Budgets       powercap.Budgets
	Prices        PricesStatus
	Balance       improve.BalanceStatus
	Consolidation improve.ConsolidationStatus
	// Recommendations are counted; ManualVJobs are the live vjobs with moves that wait for approval.
	Recommendations improve.RecommendationStatus
	ManualVJobs     int
	Failover        failover.Report // as of the last decision; its Nodes are 0 if none may be lost
	Pools           PoolsStatus
	VJobs           VJobsStatus
	Running         []ActionStatus      // actions under way
	Alarms          []journal.Alarm     // open ones, the oldest first
	Waits           map[string]Waits    // by queue, since the start
	Durations       *duration.Estimates // as the last decision saw them; nil before the first step
}

// asOf returns the snapshot at a later instant, if nothing happens but that time passes: a loop without news takes none
// for a while.
func (s *Snapshot) asOf(now time.Time) *Snapshot {
	if !s.Ready || !now.After(s.At) {
		return s
	}
	later := *s
	later.At, later.VJobs = now, s.VJobs.asOf(now)
	return &later
}

// VJob returns the status of a live vjob; the zero value for another.
func (s *Snapshot) VJob(id cluster.VJobID) VJobStatus {
	status, _ := s.VJobs.Get(id)
	return status
}

// RulesStatus is the rules of the cluster.
type RulesStatus struct {
	Settings string        // those of the settings
	Stated   journal.Rules // those that were stated through the API
	Broken   []string      // what breaks rules now, as of the last decision
	Dropped  []string      // preferred rules that cannot be kept now, with the reason
}

// VJobStatus is what the loop knows of a live vjob beyond its record.
type VJobStatus struct {
	Owner  string
	State  cluster.State
	Held   bool
	Cause  *cluster.Cause // why it is in its state
	Reason string         // what it waits for, or why it runs on; see [VJobStatus.Why]
	Place  int            // in the queue, from 1; 0 if it does not wait
	// Start is when a waiting vjob is estimated to start; zero if unknown.
	Start time.Time
	// Promised: the present plan starts or resumes it, and has not begun to.
	Promised bool
	Queue    string                 // in which it counts
	Pool     string                 // in which it is; "" is the cluster
	Entitled []entitlement.Entitled // by rank, as of the last decision; nil if the cluster is not divided or it does not run
	Gang     gang.Record            // it never changes
	Ran      time.Duration          // as far as it counts towards the walltime
	Crowded  time.Duration          // that it ran beside that; see [execute.Report]
	Watts    energy.Watts           // its shares of what the nodes draw
	Used     cluster.Resources      // by its VMs on their nodes
	Refusals []Refusal              // nodes on which VMs of it could not be created, since it last got where it should
}

// Why says why the vjob is in its state and, if it waits, what for: "suspended 14:02 to make
// room for 3 high (bob): 4 CPU short; 1st in line, resumes 15:10 at the latest". The cause
// counts vjobs of other users than the viewer; the viewer "" is an administrator.
func (s *VJobStatus) Why(viewer string, now time.Time) string {
	clause := s.Cause.For(viewer).Clause(s.State)
	switch {
	case clause == "", s.State == cluster.Running && s.Reason != "", s.State == cluster.Waiting && s.Cause.Is(cluster.CauseSubmitted):
		return cmp.Or(s.Reason, strings.TrimPrefix(clause, ": "))
	case !s.State.Stable():
		return joined(s.State.String()+clause, s.Reason)
	case s.Held && s.Cause.Is(cluster.CauseOrder):
		return s.since(now) + clause
	case s.Place > 0 && s.Cause.Preempts():
		return joined(s.since(now)+clause, s.turn(now))
	}
	return joined(s.since(now)+clause, s.Reason)
}

// since is "suspended 14:02".
func (s *VJobStatus) since(now time.Time) string {
	if s.Gang.Since.IsZero() {
		return s.State.String()
	}
	return s.State.String() + " " + cluster.Clock(s.Gang.Since, now)
}

// turn is "1st in line, resumes 15:10 at the latest".
func (s *VJobStatus) turn(now time.Time) string {
	text := queue.Ordinal(s.Place) + " in line"
	if !s.Start.IsZero() {
		text += ", resumes " + cluster.Clock(s.Start, now) + " at the latest"
	}
	return text
}

func joined(text, more string) string {
	if more == "" {
		return text
	}
	return text + "; " + more
}

// ActionStatus is one action under way.
type ActionStatus struct {
	Plan     journal.PlanID
	VM       cluster.VMID
	What     string // "suspend", "resume", …
	Phase    string // of the gang: "pausing", "saving", …
	From, To cluster.NodeID
	Began    time.Time
	Expected time.Duration // how long it is estimated to take
}
