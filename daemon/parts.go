package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"vjob/api"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
	"vjob/journal"
	"vjob/queue"
	"vjob/queue/arrangement"
	"vjob/replay"
	"vjob/scheduler"
	"vjob/settings"
)

// The drivers that settings can name.
const (
	driverSimulated = "simulated"
	driverLibvirt   = "libvirt"
)

// openDriver opens the driver that the settings name.
func openDriver(s *settings.Settings, log *slog.Logger) (hypervisor.Driver, error) {
	if s.Driver == driverLibvirt {
		return openLibvirt(s, log)
	}
	profile, err := simulated.ProfileNamed(s.Simulated.Profile)
	if err != nil {
		return nil, err
	}
	config := simulated.Config{Profile: profile, Seed: s.Simulated.Seed, Locks: s.Simulated.Locks}
	for _, n := range s.ClusterNodes() {
		config.Nodes = append(config.Nodes, simulated.Node{ID: n.ID, Capacity: n.Capacity})
	}
	driver, err := simulated.Open(simulated.Settings{Config: config, Speed: s.Simulated.Speed, StateFile: s.ClusterFile()})
	if err != nil {
		return nil, fmt.Errorf("simulated cluster: %w", err)
	}
	return driver, nil
}

// costs are the estimates of actions. On real hosts they are those of the thesis,
// which are on the safe side: deadlines are made of them.
func costs(s *settings.Settings) (ctxswitch.Costs, error) {
	if s.Driver == driverLibvirt {
		return ctxswitch.ThesisCosts, nil
	}
	profile, err := simulated.ProfileNamed(s.Simulated.Profile)
	if err != nil {
		return ctxswitch.Costs{}, err
	}
	return replay.Scaled(replay.Costs(profile), s.Simulated.Speed), nil
}

// suspension is where to vjobs are suspended: what the settings say, or what suits their
// policy.
func suspension(s *settings.Settings) (scheduler.Suspension, error) {
	p, err := queue.ByName(s.Policy.Name)
	if err != nil {
		return scheduler.ToDisk, err
	}
	return scheduler.SuspensionNamed(s.Policy.Suspend, p)
}

// coreSettings are the settings of the loop's core.
func coreSettings(s *settings.Settings) (scheduler.Settings, error) {
	rules, err := s.Arrange()
	if err != nil {
		return scheduler.Settings{}, err
	}
	rations, err := energyOf(s)
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
		Word: gang.DefaultLimits.Word,
	}
	e.Attempts = s.Limits.Attempts
	e.Transfers, e.Slack, e.LookEvery = s.Limits.TransfersPerNode, s.Limits.Slack, s.Timing.Tick.Duration
	return scheduler.Settings{
		Execute: e, Policy: policyOf(s, &rules), Arrangement: &rules, Planner: planner(s), Rules: string(s.Rules), Network: network(s), Energy: rations, Switching: switching(s),
		Reserving: scheduler.Reserving{Horizon: s.Reserving.Horizon.Duration, Margin: s.Reserving.Margin.Duration},
		Rest:      s.Timing.Rest.Duration, Backoff: s.Timing.Backoff.Duration, Live: true, Suspend: suspend, HoldOverdue: s.Policy.Overdue == "suspend",
	}, nil
}

// policyOf is the policy of all queues, with the gap that it leaves.
func policyOf(s *settings.Settings, rules *arrangement.Rules) queue.Policy {
	if s.Policy.Gap.Duration == 0 {
		return rules.Policy()
	}
	return queue.Apart{Policy: rules.Policy(), Gap: s.Policy.Gap.Duration}
}

// energyOf is what is known of power, and what is to be done with it.
func energyOf(s *settings.Settings) (e scheduler.Energy, err error) {
	e = scheduler.Energy{Power: s.Power(), Yield: s.Energy.Yield, Lambda: s.Energy.Lambda}
	if e.Zone, err = s.Zone(); err != nil {
		return e, err
	}
	e.Budgets, err = s.Energy.Book(e.Zone)
	return e, err
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

// planner looks for a better plan until its time is up.
func planner(s *settings.Settings) ctxswitch.Planner {
	return ctxswitch.Repacker{Rounds: math.MaxInt, Clock: func() func() bool {
		end := time.Now().Add(s.Timing.Plan.Duration)
		return func() bool { return time.Now().After(end) }
	}}
}

// bounds limits submissions; the default image stands first.
func bounds(s *settings.Settings) scheduler.Bounds {
	b := scheduler.Bounds{VMs: s.Limits.VMsPerVJob, Array: s.Limits.VJobsPerArray}
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

// retention is how long the history is kept.
func retention(s *settings.Settings) journal.Retention {
	r := &s.Retention
	return journal.Retention{Events: r.Events.Duration, Plans: r.Plans.Duration, VJobs: r.VJobs.Duration}
}

// apiLimits are the limits of the API; no limit of requests is a very high one.
func apiLimits(s *settings.Settings) api.Limits {
	perSecond := s.Limits.RequestsPerSecond
	if perSecond == 0 {
		perSecond = 1e9
	}
	return api.Limits{VMsPerVJob: s.Limits.VMsPerVJob, VJobsPerArray: s.Limits.VJobsPerArray, PerSecond: perSecond, Burst: int(min(2*perSecond, 1e9)) + 1}
}

// catalogue is the list of images as the API shows it.
type catalogue []settings.Image

// Images lists the images in the order of the settings.
func (c catalogue) Images(context.Context) ([]wire.Image, error) {
	list := make([]wire.Image, len(c))
	for i, image := range c {
		list[i] = wire.Image{ID: image.ID, Kind: image.Kind, Description: image.Description, Default: image.Default}
	}
	return list, nil
}

// ringingStore tells the API when there are new events, so that streams need not
// wait for their next look.
type ringingStore struct {
	scheduler.Store
	ring func()
}

// Commit rings after a step with events.
func (s *ringingStore) Commit(ctx context.Context, step journal.Step) error {
	err := s.Store.Commit(ctx, step)
	if err == nil && len(step.Events) > 0 {
		s.ring()
	}
	return err
}

// Submit rings after a new vjob, whose submission is an event.
func (s *ringingStore) Submit(ctx context.Context, sub scheduler.Submission) (*cluster.VJob, bool, error) {
	job, created, err := s.Store.Submit(ctx, sub)
	if created {
		s.ring()
	}
	return job, created, err
}
