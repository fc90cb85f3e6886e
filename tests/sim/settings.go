package sim

import (
	"time"

	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/scheduler/pass"
)

// Settings are those of the scheduler in a run.
func Settings(opts Options) scheduler.Settings {
	limits := execute.DefaultSettings
	limits.Costs = Costs
	limits.LookEvery, limits.Retry, limits.Settle = 5*time.Second, time.Second, 20*time.Second
	limits.Limits.StopGrace = 5 * time.Second
	if opts.Seed%3 == 1 {
		limits.Limits.MaxLosses = 0 // so that vjobs fail
	}
	policy := policies[opts.Seed%uint64(len(policies))]
	set := scheduler.Settings{
		Settings: pass.Settings{
			Execute: limits, Policy: policy, Planner: ctxswitch.Repacker{}, Seed: opts.Seed, Backoff: 5 * time.Second,
			Live: opts.Locks, Suspend: suspensions[opts.Seed/2%uint64(len(suspensions))],
		},
		Rest: 100 * time.Millisecond,
	}
	if opts.timed() {
		set.Reserving.Margin = 20 * time.Second
	}
	if arranged(opts) {
		rules, err := arrange(policy)
		if err != nil {
			panic(err) // they are the same in all runs
		}
		set.Arrangement = rules
	}
	return set
}

// policies are those of the runs: the first ones that suspend most.
var policies = []queue.Policy{
	queue.FirstFit{},
	queue.FirstFit{Count: queue.Assumed},
	queue.FCFS{},
	queue.FirstFit{Count: queue.Observed, MinRun: 20 * time.Second},
	queue.FirstFit{Count: queue.Predicted, Patience: 30 * time.Second},
	queue.TimeSlices{Quantum: time.Minute, Count: queue.Observed},
	queue.EASY{},
	queue.Conservative{},
}

// suspensions are where the vjobs of the runs are suspended to, with every policy each.
var suspensions = []pass.Suspension{pass.ToDisk, pass.Auto, pass.InMemory}

// Costs estimate the lab profile.
var Costs = ctxswitch.Costs{
	Boot: time.Second, Stop: time.Second, MigratePer: 12 * time.Second,
	SuspendPer: 8 * time.Second, ResumePer: 10 * time.Second, RemoteFactor: 2,
}
