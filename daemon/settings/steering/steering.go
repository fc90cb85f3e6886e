// Package steering makes the settings of the scheduling loop of what an administrator
// has written. The daemon and the replay of workloads take them from here, so that what
// is tried is what will happen.
//
// It refuses to know who runs the loop, and on what.
package steering

import (
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/daemon/settings"
	"vjob/hypervisor/simulated"
	"vjob/queue"
	"vjob/queue/ordering"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/scheduler/decide"
)

// Core is the settings of the loop's core, but for its planner and for the nodes that can be
// switched off and on.
func Core(s *settings.Settings) (scheduler.Settings, error) {
	rules, err := s.Arrange()
	if err != nil {
		return scheduler.Settings{}, err
	}
	zone, err := s.Zone()
	if err != nil {
		return scheduler.Settings{}, err
	}
	budgets, err := s.Energy.Book(zone)
	if err != nil {
		return scheduler.Settings{}, err
	}
	prices, err := s.Energy.Series()
	if err != nil {
		return scheduler.Settings{}, err
	}
	suspend, err := suspension(s)
	if err != nil {
		return scheduler.Settings{}, err
	}
	e := execute.DefaultSettings
	if e.Costs, err = costs(s); err != nil {
		return scheduler.Settings{}, err
	}
	e.Limits = gang.Limits{
		MaxSkew: s.Limits.MaxSkew.Duration, MaxTries: s.Limits.Tries, MaxLosses: s.Limits.Requeues,
		StopGrace: s.Limits.StopGrace.Duration, Margin: s.Limits.ImageMargin.MiB,
		DepartureGrace: gang.DefaultLimits.DepartureGrace, StoreLag: s.Limits.StoreLag.Duration,
	}
	e.Attempts, e.KeepLost = s.Limits.Attempts, s.Retention.Lost.Duration
	e.Transfers, e.Slack, e.LookEvery = s.Limits.TransfersPerNode, s.Limits.Slack, s.Timing.Tick.Duration
	return scheduler.Settings{
		Settings: decide.Settings{
			Execute: e, Policy: policyOf(s, &rules), Arrangement: &rules, Network: network(s),
			Energy:    decide.Energy{Power: s.Power(), Yield: s.Energy.Yield, Lambda: s.Energy.Lambda, ShiftSaves: s.Energy.ShiftSaves},
			Reserving: decide.Reserving{Horizon: s.Reserving.Horizon.Duration, Margin: s.Reserving.Margin.Duration},
			Backoff:   s.Timing.Backoff.Duration, Live: true, Suspend: suspend,
		},
		Rules: string(s.Rules), Rest: s.Timing.Rest.Duration, Budgets: budgets, Prices: prices, Zone: zone,
		HoldOverdue: s.Policy.Overdue == "suspend", Consolidating: consolidating(s),
	}, nil
}

// consolidating is when VMs are moved to where they draw less; nil: never.
func consolidating(s *settings.Settings) *scheduler.Consolidating {
	c := &s.Energy.Consolidate
	if c.Never() {
		return nil
	}
	return &scheduler.Consolidating{Terms: c.Terms(), Every: c.Every.Duration, Always: c.Always()}
}

// Bounds limits submissions; the default image stands first.
func Bounds(s *settings.Settings) admission.Bounds {
	b := admission.Bounds{
		VMs: s.Limits.VMsPerVJob, Array: s.Limits.VJobsPerArray, Total: s.Limits.VMsPerSubmission,
		Owner: admission.Holding{VJobs: s.Limits.VJobsPerUser, VMs: s.Limits.VMsPerUser},
	}
	if usual := s.DefaultImage(); usual != "" {
		b.Images = append(b.Images, usual)
	}
	for _, i := range s.Images {
		if !i.Default {
			b.Images = append(b.Images, i.ID)
		}
	}
	return b
}

// policyOf is the policy of all queues, with the gap that it leaves.
func policyOf(s *settings.Settings, rules *ordering.Rules) queue.Policy {
	if s.Policy.Gap.Duration == 0 {
		return rules.Policy()
	}
	return queue.WithGap{Policy: rules.Policy(), Gap: s.Policy.Gap.Duration}
}

// network is what transfers share; nil if nothing is known of it.
func network(s *settings.Settings) *ctxswitch.Network {
	nics := s.NICs()
	if nics == nil {
		return nil
	}
	n := &ctxswitch.Network{NIC: nics, Uplink: map[string]cluster.Rate{}, Label: s.Network.Label, Dirty: s.Network.Dirty.Rate}
	for rack, rate := range s.Network.Uplinks {
		n.Uplink[rack] = rate.Rate
	}
	return n
}

// suspension is where to vjobs are suspended: what the settings say, or what suits their
// policy.
func suspension(s *settings.Settings) (decide.Suspension, error) {
	p, err := queue.New(s.Policy.Name, nil)
	if err != nil {
		return decide.ToDisk, err
	}
	return decide.SuspensionNamed(s.Policy.Suspend, p)
}

// costs are the estimates of actions, of which deadlines are made too.
func costs(s *settings.Settings) (ctxswitch.Costs, error) {
	if s.Driver == "libvirt" {
		return RealCosts(s), nil
	}
	profile, err := simulated.ProfileNamed(s.Simulated.Profile)
	if err != nil {
		return ctxswitch.Costs{}, err
	}
	return Scaled(Costs(profile), s.Simulated.Speed), nil
}
