package sim

import (
	"time"

	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/scheduler/decide"
	"vjob/scheduler/improve"
)

// rounds bounds the improvement of a plan, to save time.
const rounds = 16

// Settings returns the settings of the scheduler in a run.
func Settings(opts Options) scheduler.Settings {
	limits := execute.DefaultSettings
	limits.Costs = Costs
	limits.LookEvery, limits.Retry, limits.Settle = 5*time.Second, time.Second, 20*time.Second
	limits.Limits.StopGrace = 5 * time.Second
	limits.Learn = opts.Seed%3 != 2
	if opts.Seed%3 == 1 {
		limits.Limits.MaxLosses = 0 // so that vjobs fail
	}
	policy := opts.policy()
	set := scheduler.Settings{
		Settings: decide.Settings{
			Execute: limits, Policy: policy, Planner: ctxswitch.Repacker{Rounds: rounds}, Seed: opts.Seed, Backoff: 5 * time.Second,
			Live: opts.Locks, Suspend: suspensions[opts.Seed/2%uint64(len(suspensions))],
		},
		Rest: 100 * time.Millisecond,
	}
	if opts.timed() {
		set.Reservations.Margin = 20 * time.Second
	}
	set.Improve.Balance, set.Improve.Automation, set.Improve.Placement = balancing(&opts), automation(&opts), improve.Spread
	set.Failover = opts.failover()
	if opts.pooled() {
		set.Pools, set.EntitleEvery = poolsOf(), 30*time.Second
	}
	if arranged(opts) {
		rules, err := arrange(policy)
		if err != nil {
			panic(err) // they are the same in all runs
		}
		set.Ordering = rules
	}
	return set
}

// policy returns the policy of the options, or else that of the seed.
func (o *Options) policy() queue.Policy {
	if o.Policy != nil {
		return o.Policy
	}
	return PolicyOf(o.Seed, "")
}

// PolicyOf returns the policy of a seed, among the policies with a name, or among all if the
// name is "". It returns nil if no policy has the name.
func PolicyOf(seed uint64, name string) queue.Policy {
	var list []queue.Policy
	for _, p := range policies {
		if name == "" || p.Name() == name {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[seed%uint64(len(list))]
}

// policies are the policies of the runs. Their number is eleven, which is prime to the 2, 3, 5
// and 7 of the other options, so that each policy meets every option.
var policies = []queue.Policy{
	queue.FirstFit{},
	queue.FirstFit{Count: queue.Assumed},
	queue.FCFS{},
	queue.FirstFit{Count: queue.Observed, MinRun: 20 * time.Second},
	queue.FirstFit{Count: queue.Predicted, Hysteresis: 20 * time.Second, Patience: 30 * time.Second},
	queue.TimeSlices{Quantum: time.Minute, Count: queue.Observed},
	queue.EASY{},
	queue.Conservative{},
	queue.DynamicEASY{Count: queue.Assumed, MinRun: 20 * time.Second, Patience: 30 * time.Second, Due: 1},
	queue.DynamicEASY{Count: queue.Observed},
	queue.WithGap{Policy: queue.Conservative{}, Gap: 10 * time.Second},
}

// suspensions are the ways in which runs suspend vjobs; each meets every policy.
var suspensions = []decide.Suspension{decide.ToDisk, decide.Auto, decide.InMemory}

// Costs are the estimated costs of actions for the lab profile.
var Costs = ctxswitch.Costs{
	Boot: time.Second, Stop: time.Second, MigratePer: 12 * time.Second,
	SuspendPer: 8 * time.Second, ResumePer: 10 * time.Second, RemoteFactor: 2,
}
