package settings

import (
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor/simulated"
	"vjob/queue/pool"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/scheduler/decide"
	"vjob/scheduler/improve"
)

// Scheduler returns the settings of the scheduling loop, without the planner and without node power. The daemon and
// replays both use it, so that a replay decides as the daemon does.
func (s *Settings) Scheduler() (scheduler.Settings, error) {
	rules, err := s.Arrange()
	if err != nil {
		return scheduler.Settings{}, err
	}
	zone, err := s.zone()
	if err != nil {
		return scheduler.Settings{}, err
	}
	budgets, err := s.Energy.book(zone)
	if err != nil {
		return scheduler.Settings{}, err
	}
	prices, err := s.Energy.Series()
	if err != nil {
		return scheduler.Settings{}, err
	}
	suspend, err := s.Policy.suspension()
	if err != nil {
		return scheduler.Settings{}, err
	}
	pools, err := pool.ReadPools(s.Pools)
	if err != nil {
		return scheduler.Settings{}, err
	}
	e := execute.DefaultSettings
	if e.Costs, err = s.costs(); err != nil {
		return scheduler.Settings{}, err
	}
	e.Limits = gang.Limits{
		MaxSkew: s.Limits.MaxSkew.Duration, MaxTries: s.Limits.Tries, MaxLosses: s.Limits.Requeues,
		StopGrace: s.Limits.StopGrace.Duration, Margin: s.Limits.ImageMargin.MiB,
		DepartureGrace: gang.DefaultLimits.DepartureGrace, StoreLag: s.Limits.StoreLag.Duration,
	}
	e.Learn = s.Durations.Learn
	e.Attempts, e.KeepLost = s.Limits.Attempts, s.Retention.Lost.Duration
	e.Transfers, e.Slack, e.LookEvery = s.Limits.TransfersPerNode, s.Limits.Slack, s.Timing.Tick.Duration
	return scheduler.Settings{
		Settings: decide.Settings{
			Execute: e, Policy: s.Policy.ofQueues(&rules), Ordering: &rules, Network: s.Network.shared(s.Nodes),
			Energy:       decide.Energy{Power: s.Power(), Yield: s.Energy.Yield, Lambda: s.Energy.Lambda, ShiftSaves: s.Energy.ShiftSaves},
			Reservations: decide.ReservationSettings{Horizon: s.Reserving.Horizon.Duration, Margin: s.Reserving.Margin.Duration},
			Backoff:      s.Timing.Backoff.Duration, Live: true, Suspend: suspend, Failover: s.Policy.Failover, Lookahead: s.Policy.Lookahead.Duration,
			Pools: pools, EntitleEvery: s.Timing.Entitle.Duration,
		},
		Rules: string(s.Rules), Rest: s.Timing.Rest.Duration, Budgets: budgets, Prices: prices, Zone: zone,
		HoldOverdue: s.Policy.Overdue == "suspend",
		Improve: improve.Settings{
			Consolidation: s.Energy.Consolidate.scheduler(), Balance: s.Balance.scheduler(), Placement: s.placement(), Automation: s.Approval.automation(),
		},
	}, nil
}

// SubmissionLimits returns the limits of submissions; the default image comes first.
func (s *Settings) SubmissionLimits() admission.Limits {
	b := admission.Limits{
		Failover: s.Policy.Failover, VMs: s.Limits.VMsPerVJob, Array: s.Limits.VJobsPerArray, Total: s.Limits.VMsPerSubmission,
		Owner: admission.Holding{VJobs: s.Limits.VJobsPerUser, VMs: s.Limits.VMsPerUser},
	}
	if id := s.DefaultImage(); id != "" {
		b.Images = append(b.Images, id)
	}
	for _, i := range s.Images {
		if !i.Default {
			b.Images = append(b.Images, i.ID)
		}
	}
	return b
}

// costs returns the estimated durations of actions, from which deadlines follow too.
func (s *Settings) costs() (ctxswitch.Costs, error) {
	if s.Driver == "libvirt" {
		return s.Durations.over(s.LibvirtCosts()), nil
	}
	profile, err := simulated.ProfileNamed(s.Simulated.Profile)
	if err != nil {
		return ctxswitch.Costs{}, err
	}
	return s.Durations.over(scaled(SimulatedCosts(profile), s.Simulated.Speed)), nil
}
