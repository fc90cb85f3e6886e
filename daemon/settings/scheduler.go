package settings

import (
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor/simulated"
	"vjob/queue"
	"vjob/queue/ordering"
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
	suspend, err := s.suspension()
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
			Execute: e, Policy: s.queuePolicy(&rules), Ordering: &rules, Network: s.sharedNetwork(),
			Energy:       decide.Energy{Power: s.Power(), Yield: s.Energy.Yield, Lambda: s.Energy.Lambda, ShiftSaves: s.Energy.ShiftSaves},
			Reservations: decide.ReservationSettings{Horizon: s.Reserving.Horizon.Duration, Margin: s.Reserving.Margin.Duration},
			Backoff:      s.Timing.Backoff.Duration, Live: true, Suspend: suspend, Failover: s.Policy.Failover, Lookahead: s.Policy.Lookahead.Duration,
			Pools: pools, EntitleEvery: s.Timing.Entitle.Duration,
		},
		Rules: string(s.Rules), Rest: s.Timing.Rest.Duration, Budgets: budgets, Prices: prices, Zone: zone,
		HoldOverdue: s.Policy.Overdue == "suspend",
		Improve:     improve.Settings{Consolidation: s.consolidation(), Balance: s.balancing(), Placement: s.placement(), Automation: s.Approval.automation()},
	}, nil
}

// consolidation returns the settings of energy consolidation, or nil if it is off.
func (s *Settings) consolidation() *improve.ConsolidationSettings {
	c := &s.Energy.Consolidate
	if c.never() {
		return nil
	}
	return &improve.ConsolidationSettings{Criteria: c.criteria(), Every: c.Every.Duration, Always: c.always()}
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

// queuePolicy returns the policy of all queues, with the gap of the settings.
func (s *Settings) queuePolicy(rules *ordering.Settings) queue.Policy {
	if s.Policy.Gap.Duration == 0 {
		return rules.Policy()
	}
	return queue.WithGap{Policy: rules.Policy(), Gap: s.Policy.Gap.Duration}
}

// sharedNetwork returns the bandwidths that transfers share, or nil if none is known.
func (s *Settings) sharedNetwork() *ctxswitch.Network {
	nics := s.nics()
	if nics == nil {
		return nil
	}
	n := &ctxswitch.Network{NIC: nics, Uplink: map[string]cluster.Rate{}, Label: s.Network.Label, Dirty: s.Network.Dirty.Rate}
	for rack, rate := range s.Network.Uplinks {
		n.Uplink[rack] = rate.Rate
	}
	return n
}

// suspension returns where vjobs are suspended to: the setting, or the default of the policy.
func (s *Settings) suspension() (decide.Suspension, error) {
	p, err := queue.New(s.Policy.Name, nil)
	if err != nil {
		return decide.ToDisk, err
	}
	return decide.ParseSuspension(s.Policy.Suspend, p)
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
