package daemon

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"vjob/api"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/journal"
	"vjob/daemon/settings"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// The hypervisor drivers.
const (
	driverSimulated = "simulated"
	driverLibvirt   = "libvirt"
)

// openDriver opens the driver that the settings name.
func openDriver(s *settings.Settings, installation string, log *slog.Logger) (hypervisor.Driver, error) {
	if s.Driver == driverLibvirt {
		driver, err := newLibvirt(s, installation, log)
		if err != nil {
			return nil, err
		}
		return newReplaceable(driver), nil
	}
	of, err := simulatedSettings(s)
	if err != nil {
		return nil, err
	}
	driver, err := simulated.Open(of)
	if err != nil {
		return nil, fmt.Errorf("simulated cluster: %w", err)
	}
	return driver, nil
}

// simulatedSettings returns the settings of the simulated cluster.
func simulatedSettings(s *settings.Settings) (simulated.Settings, error) {
	profile, err := simulated.ProfileNamed(s.Simulated.Profile)
	if err != nil {
		return simulated.Settings{}, err
	}
	config := simulated.Config{Profile: profile, Seed: s.Simulated.Seed, Locks: s.Simulated.Locks}
	platforms := simulatedPlatforms(s)
	for _, n := range s.ClusterNodes() {
		config.Nodes = append(config.Nodes, simulated.Node{ID: n.ID, Capacity: n.Capacity, Platforms: platforms[string(n.ID)]})
	}
	faults, err := rehearsals(s)
	return simulated.Settings{Config: config, Speed: s.Simulated.Speed, StateFile: s.ClusterFile(), Rehearsals: faults}, err
}

// simulatedPlatforms are what VMs can be on each simulated node; on the others: anything.
func simulatedPlatforms(s *settings.Settings) map[string][]hypervisor.Platform {
	of := map[string][]hypervisor.Platform{}
	for i := range s.Simulated.Platforms {
		p := &s.Simulated.Platforms[i]
		names := p.Names()
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			of[name] = append(of[name], hypervisor.Platform{
				Type: cmp.Or(p.Type, "kvm"), Arch: "x86_64", CPUModel: p.CPUModel,
				Features: slices.Sorted(slices.Values(p.CPUFeatures)), MachineTypes: p.MachineTypes,
			})
		}
	}
	return of
}

// rehearsals lists the simulated faults of the settings, one for each node.
func rehearsals(s *settings.Settings) (list []simulated.Rehearsal, err error) {
	for _, f := range s.Simulated.Faults {
		kind, err := simulated.FaultNamed(f.Kind)
		if err != nil {
			return nil, err
		}
		for _, node := range f.Nodes() {
			list = append(list, simulated.Rehearsal{Node: cluster.NodeID(node), Kind: kind, After: f.After.Duration, Lasts: f.Lasts.Duration})
		}
	}
	return list, nil
}

// coreSettings returns the settings of the loop: those that replays share with the daemon,
// and the time limit of planning and the nodes that can be switched.
func coreSettings(s *settings.Settings) (scheduler.Settings, error) {
	core, err := s.Scheduler()
	core.Planner, core.Switching, core.NodePower = planner(s), switching(s), powerPolicy(s)
	return core, err
}

// planner returns a planner that improves a plan until timing.plan has passed.
func planner(s *settings.Settings) ctxswitch.Planner {
	return ctxswitch.Repacker{Rounds: math.MaxInt, Clock: func() func() bool {
		end := time.Now().Add(s.Timing.Plan.Duration)
		return func() bool { return time.Now().After(end) }
	}}
}

// retention returns how long the history is kept.
func retention(s *settings.Settings) journal.Retention {
	r := &s.Retention
	return journal.Retention{Events: r.Events.Duration, Plans: r.Plans.Duration, VJobs: r.VJobs.Duration, Audit: r.Audit.Duration}
}

// apiLimits returns the limits of the API. Without a limit of the request rate it sets 10⁹ per second.
func apiLimits(s *settings.Settings) api.Limits {
	perSecond := s.Limits.RequestsPerSecond
	if perSecond == 0 {
		perSecond = 1e9
	}
	l := &s.Limits
	return api.Limits{
		Concurrent: l.Requests, PerCaller: l.RequestsPerCaller, Streams: l.Streams, StreamsPerCaller: l.StreamsPerCaller,
		Forecasts: l.Forecasts, ForecastsPerCaller: l.ForecastsPerCaller,
		Connections: min(l.Connections, mostConnections()), PerPeer: l.ConnectionsPerPeer,
		VMsPerVJob: s.Limits.VMsPerVJob, VJobsPerArray: s.Limits.VJobsPerArray, SubmissionBytes: int64(s.Limits.SubmissionSize.MiB) << 20,
		PerSecond: perSecond, Burst: int(min(2*perSecond, 1e9)) + 1,
	}
}

// mostConnections returns half of the limit of open files of this process: the database,
// the logs and the nodes need the other half.
func mostConnections() int {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return math.MaxInt
	}
	return int(min(files.Cur/2, math.MaxInt32))
}

// catalogue is the list of images as the API shows it.
type catalogue []settings.Image

// Images lists the images in the order of the settings.
func (c catalogue) Images(context.Context) ([]wire.Image, error) {
	list := make([]wire.Image, len(c))
	for i, image := range c {
		list[i] = wire.Image{ID: image.ID, Kind: image.Kind, Description: image.Description, Default: image.Default, Users: image.Users, Groups: image.Groups}
	}
	return list, nil
}

// notifyingStore calls notify after each write with events, so that event streams and
// notifications do not wait for their next poll.
type notifyingStore struct {
	scheduler.Store
	notify func()
}

// Commit notifies after a step with events.
func (s *notifyingStore) Commit(ctx context.Context, step journal.Step) error {
	err := s.Store.Commit(ctx, step)
	if err == nil && len(step.Events) > 0 {
		s.notify()
	}
	return err
}

// Submit notifies after a new vjob, since its submission is an event.
func (s *notifyingStore) Submit(ctx context.Context, sub admission.Submission) (*cluster.VJob, bool, error) {
	job, created, err := s.Store.Submit(ctx, sub)
	if created {
		s.notify()
	}
	return job, created, err
}
