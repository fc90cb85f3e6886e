// Package replay runs a workload through the scheduler's own core in virtual
// time, over the simulated cluster. Its result has the states of each vjob over time, every
// context switch with its cost, and the utilisation of the nodes.
package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/daemon/settings"
	"vjob/db"
	"vjob/hypervisor/simulated"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/scheduler/decide"
	"vjob/sim/simclock"
	"vjob/sim/workload"
)

// Options are the options of a replay.
type Options struct {
	// Base are the settings of a daemon: the order of its queues, its shares, quotas, rules
	// and budgets. If nil, the order is by the submitted priorities, under Policy.
	Base    *scheduler.Settings
	Limits  admission.Limits // limits of submissions; others are refused
	Title   string           // of the result; default: the name of the policy
	Policy  queue.Policy     // used without Base
	Suspend decide.Suspension
	Profile simulated.Profile // durations of actions
	Nodes   []cluster.Node    // default: those of the workload
	Start   time.Time         // of the workload, for windows in time; default: that of the workload
	Locks   bool              // nodes have a lock manager, so that running VMs may migrate
	Seed    uint64
	// Learn: durations are learned from the actions of the replay. Without, plans are made with those
	// of the profile, as in the published comparisons.
	Learn bool
	// Transfers is the number of simultaneous saves, restores and migrations of a node; 0
	// is the default.
	Transfers int
	// Rounds is the number of rounds in which the planner improves its first plan; 0 is the
	// default.
	Rounds int
	// Progress is called from time to time with the number of ended vjobs, the number of all
	// vjobs, and the virtual time since the start. May be nil.
	Progress func(ended, all int, at time.Duration)
}

// title returns the title of the result.
func (o *Options) title() string {
	switch {
	case o.Title != "":
		return o.Title
	case o.Base != nil:
		return o.Base.Policy.Name()
	default:
		return o.Policy.Name()
	}
}

// image is the image of all VMs of a workload.
const image = "simulated"

// Run replays the workload. If the context ends, it returns the context's error.
func Run(ctx context.Context, w *workload.Workload, o Options) (*Result, error) {
	nodes := w.Nodes
	if len(o.Nodes) > 0 {
		nodes = o.Nodes
	}
	if len(nodes) == 0 {
		return nil, cluster.BadField("cluster", "none", "nodes, in the workload or given beside it")
	}
	if err := fits(w, nodes); err != nil {
		return nil, err
	}
	store, err := db.OpenMemory() //nolint:contextcheck // nothing in memory blocks
	if err != nil {
		return nil, err
	}
	defer func() { _ = store.Close() }()                 // nothing of it is kept
	r, err := newRun(w, nodes, &forgetful{DB: store}, o) //nolint:contextcheck // nothing in virtual time blocks
	if err != nil {
		return nil, err
	}
	if err := errors.Join(r.serve(ctx), r.store.failed); err != nil {
		return nil, err
	}
	out := r.recorder.result(r.shell.Now())
	out.Usage = r.usage.Usage
	out.Usage.end(r.usage.unsatisfiedFor)
	return out, nil
}

// fits refuses a workload with a vjob that could never run on the nodes.
func fits(w *workload.Workload, nodes []cluster.Node) error {
	for i := range w.Jobs {
		s := w.Jobs[i].Submission
		if err := s.Validate(admission.Limits{}, nodes); err != nil {
			return fmt.Errorf("%s: %w", w.Jobs[i].Describe(), err)
		}
	}
	return nil
}

// run is one replay.
type run struct {
	workload *workload.Workload
	arrivals *arrivals
	numbers  []cluster.VJobID // of the submitted jobs; 0 for a refused one
	options  Options
	cluster  *simulated.Cluster
	store    *forgetful
	shell    *simclock.Shell
	recorder *recorder
	start    time.Time
	sampler  sampler
	usage    usage
	limit    time.Time // deadline of the whole replay
}

func newRun(w *workload.Workload, nodes []cluster.Node, store *forgetful, o Options) (*run, error) {
	cfg := simulated.Config{Profile: o.Profile, Seed: o.Seed, Locks: o.Locks, Start: o.Start}
	if cfg.Start.IsZero() {
		cfg.Start = w.Start
	}
	var total cluster.Resources
	for _, n := range nodes {
		cfg.Nodes = append(cfg.Nodes, simulated.Node{ID: n.ID, Capacity: n.Capacity})
		total = total.Plus(n.Capacity)
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r := &run{workload: w, arrivals: newArrivals(w), numbers: make([]cluster.VJobID, len(w.Jobs)), options: o, cluster: simulated.New(cfg), store: store}
	r.start = r.cluster.Now()
	r.recorder = newRecorder(o, r.start, len(nodes), total)
	r.recorder.onEnd = func(id cluster.VJobID, at time.Duration) {
		r.arrivals.vjobEnded(id, at)
		r.usage.vjobEnded()
	}
	work := length(w)
	r.limit = r.start.Add(min(20*work, maxLength)).Add(30 * 24 * time.Hour)
	r.sampler = sampler{every: max(time.Second, w.Jobs[len(w.Jobs)-1].At/maxSamples), next: r.start}
	var err error
	r.shell, err = simclock.New(simclock.Config{
		Settings: r.settings(work), Cluster: r.cluster, Store: r.store,
		Committed: func(now time.Time, step journal.Step) { r.recorder.committed(now, &step) },
	})
	return r, err
}

// maxLength keeps all times in the range of time.Duration.
const maxLength = 100 * 365 * 24 * time.Hour

// length returns the duration of the workload if its vjobs run one after another.
func length(w *workload.Workload) time.Duration {
	var sum, last time.Duration
	for i := range w.Jobs {
		j := &w.Jobs[i]
		last = max(last, j.At)
		for range max(1, len(j.Submission.Array)) {
			sum = min(sum+j.Length(), maxLength/20)
		}
		if j.Reserve != nil {
			last = max(last, *j.Reserve)
		}
	}
	return last + sum
}

// mostLooks limits how often idle nodes are observed, for instance during a job of ten years.
const mostLooks = 200_000

// span returns the minimum duration of the workload.
func span(w *workload.Workload) (last time.Duration) {
	for i := range w.Jobs {
		last = max(last, w.Jobs[i].At+min(w.Jobs[i].Length(), maxLength))
	}
	return last
}

// settings returns the settings of the daemon, with times for a cluster without faults: nodes
// report each change, so they are observed rarely. No plan depends on the speed of this machine.
func (r *run) settings(work time.Duration) scheduler.Settings {
	s := scheduler.Settings{Rest: time.Second, Settings: decide.Settings{
		Execute: execute.DefaultSettings, Policy: r.options.Policy, Suspend: r.options.Suspend, Backoff: 5 * time.Second,
	}}
	if r.options.Base != nil {
		s = *r.options.Base
	}
	s.Execute.Costs = settings.SimulatedCosts(r.options.Profile)
	s.Execute.Learn = r.options.Learn
	s.Execute.LookEvery = max(min(max(work/20_000, 5*time.Second), 5*time.Minute), span(r.workload)/mostLooks)
	if r.options.Transfers > 0 {
		s.Execute.Transfers = r.options.Transfers
	}
	s.Planner, s.Seed, s.Live = ctxswitch.Repacker{Rounds: r.options.Rounds}, r.options.Seed, r.options.Locks
	return s
}

// until advances the time to an instant, or until done, and takes samples.
func (r *run) until(ctx context.Context, to time.Time, done func(now time.Time) bool) error {
	for steps := 0; ; steps++ {
		if done != nil && done(r.shell.Now()) {
			return nil
		}
		if steps%256 == 0 {
			if err := errors.Join(ctx.Err(), r.store.failed); err != nil {
				return err
			}
			if r.options.Progress != nil {
				all := r.workload.VJobs()
				r.options.Progress(r.recorder.ended, all, r.shell.Now().Sub(r.start))
			}
		}
		target := to
		if r.sampler.next.Before(target) {
			target = r.sampler.next
		}
		before := r.shell.Now()
		more, err := r.shell.Step(target) //nolint:contextcheck // nothing in virtual time blocks
		if err != nil {
			return fmt.Errorf("at %s: %w", r.shell.Now().Sub(r.start), err)
		}
		r.usage.advance(r.shell.Now().Sub(before))
		r.usage.nodes, r.usage.unsatisfied = r.cluster.Usage()
		if !r.shell.Now().Before(r.sampler.next) {
			r.sample()
		}
		if !more && !r.shell.Now().Before(to) {
			return nil
		}
	}
}

// sample records the current usage.
func (r *run) sample() {
	s := Sample{At: r.shell.Now().Sub(r.start), Nodes: r.usage.nodes, Unsatisfied: r.usage.unsatisfied}
	for _, n := range r.cluster.TrueNodes() {
		s.CPU += min(n.CPUNeeded, n.Capacity.CPU)
		s.Demand += n.CPUNeeded
		s.Memory += n.MemoryUsed
	}
	r.sampler.add(s, r.shell.Now(), &r.recorder.samples)
}
