package execute

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/energy"
)

// Settings bound the executor.
type Settings struct {
	Limits    gang.Limits
	Costs     ctxswitch.Costs // estimates, from which deadlines are made
	Transfers int             // saves, restores and migrations at once per node
	KeepLost  time.Duration   // how long images of a vjob that was lost are kept; 0 is for ever
	LookEvery time.Duration   // how often a quiet node is looked at
	LookWait  time.Duration   // how long a look may take; after that the node is silent
	Retry     time.Duration   // how soon after a failed look the next is made
	// Settle is how long after its deadline, with the node answering again, a
	// call without a reply is taken to have had all the effect it will have.
	Settle time.Duration
	// RoomTimeout is how long a gang under way waits for the room that its plan had
	// promised before it turns back.
	RoomTimeout time.Duration
	// Attempts is how often an idempotent vjob is submitted in all; below 2 it is never
	// submitted again.
	Attempts int
	// Learn: how long actions take is learned; the estimates of Costs hold where nothing was.
	Learn bool
	// Slack multiplies the estimated duration of a call to give its deadline.
	Slack float64
}

// DefaultSettings suit real hosts.
var DefaultSettings = Settings{
	Limits: gang.DefaultLimits, Transfers: 2, Attempts: 3, LookEvery: 5 * time.Second,
	LookWait: 5 * time.Second, Retry: time.Second, KeepLost: 7 * 24 * time.Hour,
	Settle: 10 * time.Second, RoomTimeout: time.Minute, Slack: 4,
}

// deadline returns the time that a call with that estimate gets for its reply.
func (s *Settings) deadline(estimate time.Duration) time.Duration {
	return leastDeadline + time.Duration(float64(estimate)*s.Slack)
}

// Hooks are what the scheduler decides for the executor. They are set before the first event.
type Hooks struct {
	// Ended is called for every vjob as it ends. May be nil.
	Ended func(journal.EndedVJob)
	// Started is called for every vjob when it first runs, unless an earlier start of the scheduler saw that. May be nil.
	Started func(job *cluster.VJob, now time.Time)
	// Needs returns the demand of a member of a vjob, given the CPU that it was last seen to
	// need, if it was seen. Nil: what it reserves.
	Needs func(job *cluster.VJob, rank int, cpu cluster.MilliCPU, seen bool) cluster.Resources
	// Expect counts the CPU that package internal/predictor expects from what a member was seen
	// to need, instead of what it needs now.
	Expect bool
	// Power is the power model of nodes, where known.
	Power map[cluster.NodeID]energy.Power
	// Admits reports whether the VMs on nodes may use this CPU from now on, in addition to
	// [VMs.Load]. Nil: always.
	Admits func(more map[cluster.NodeID]cluster.MilliCPU) bool
}
