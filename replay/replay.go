// Package replay runs a workload through the scheduler's own core in virtual
// time, over the simulated cluster, and keeps what happened: when each vjob was
// in which state, every context switch with its cost, and how much of the nodes
// was used.
//
// It refuses to know about files, terminals and the real clock.
package replay

import (
	"context"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/db/memory"
	"vjob/hypervisor/simulated"
	"vjob/journal"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/virtual"
	"vjob/workload"
)

// Options choose how a workload is run.
type Options struct {
	Policy  queue.Policy
	Suspend scheduler.Suspension
	Profile simulated.Profile // durations of actions
	Nodes   []cluster.Node    // instead of the workload's own; none keeps those
	Locks   bool              // a lock manager lets running VMs migrate
	Seed    uint64
	// Transfers is how many saves, restores and migrations a node has at once; 0
	// is the default.
	Transfers int
	// Progress is told from time to time how many vjobs have ended, of how many,
	// and the virtual time since the start. Nil is nobody.
	Progress func(ended, all int, at time.Duration)
}

// image is what the VMs of a workload are made of.
const image = "simulated"

// Run replays the workload. Ending the context ends it with the context's error.
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
	r, err := newRun(w, nodes, o) //nolint:contextcheck // nothing in virtual time blocks
	if err != nil {
		return nil, err
	}
	if err := r.submitAll(ctx); err != nil {
		return nil, err
	}
	if err := r.drain(ctx); err != nil {
		return nil, err
	}
	return r.recorder.result(r.shell.Now()), nil
}

// fits refuses a workload with a vjob that could never run on the nodes.
func fits(w *workload.Workload, nodes []cluster.Node) error {
	status := make([]scheduler.NodeStatus, len(nodes))
	for i, n := range nodes {
		status[i].Node = n
	}
	for i := range w.Jobs {
		s := w.Jobs[i].Submission
		if err := s.Validate(scheduler.Bounds{}, status); err != nil {
			return fmt.Errorf("vjob %s: %w", s.Name, err)
		}
	}
	return nil
}

// run is one replay under way.
type run struct {
	jobs     []workload.Job
	options  Options
	cluster  *simulated.Cluster
	shell    *virtual.Shell
	recorder *recorder
	start    time.Time
	sampler  sampler
	limit    time.Time // by then everything should long have ended
}

func newRun(w *workload.Workload, nodes []cluster.Node, o Options) (*run, error) {
	cfg := simulated.Config{Profile: o.Profile, Seed: o.Seed, Locks: o.Locks}
	var total cluster.Resources
	for _, n := range nodes {
		cfg.Nodes = append(cfg.Nodes, simulated.Node{ID: n.ID, Capacity: n.Capacity})
		total = total.Plus(n.Capacity)
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r := &run{jobs: w.Jobs, options: o, cluster: simulated.New(cfg)}
	r.start = r.cluster.Now()
	r.recorder = newRecorder(o, r.start, len(nodes), total)
	work := length(w)
	r.limit = r.start.Add(min(20*work, maxLength)).Add(30 * 24 * time.Hour)
	r.sampler = sampler{every: time.Second, next: r.start}
	var err error
	r.shell, err = virtual.New(virtual.Config{
		Settings: r.settings(work), Cluster: r.cluster, Store: &memory.Store{},
		Committed: func(now time.Time, step journal.Step) { r.recorder.committed(now, &step) },
	})
	return r, err
}

// maxLength keeps times within what a duration can hold.
const maxLength = 100 * 365 * 24 * time.Hour

// length is how long the workload takes if its vjobs run one after another.
func length(w *workload.Workload) time.Duration {
	var sum, last time.Duration
	for i := range w.Jobs {
		last = max(last, w.Jobs[i].At)
		var longest time.Duration
		for _, vm := range w.Jobs[i].Submission.VMs {
			var own time.Duration
			if vm.Payload.Program != nil {
				for _, s := range vm.Payload.Program.Steps {
					own += s.Duration
				}
			}
			longest = max(longest, own)
		}
		sum = min(sum+longest, maxLength/20)
	}
	return last + sum
}

// settings are those of the daemon, with times that suit a cluster on which
// nothing goes wrong: nodes tell when something changes, so they need be looked at
// only now and then.
func (r *run) settings(work time.Duration) scheduler.Settings {
	e := execute.DefaultSettings
	e.Costs = Costs(r.options.Profile)
	e.LookEvery = min(max(work/20_000, 5*time.Second), 5*time.Minute)
	if r.options.Transfers > 0 {
		e.Transfers = r.options.Transfers
	}
	return scheduler.Settings{
		Execute: e, Policy: r.options.Policy, Suspend: r.options.Suspend, Planner: ctxswitch.Repacker{}, Seed: r.options.Seed,
		Rest: time.Second, Backoff: 5 * time.Second, Live: r.options.Locks,
	}
}

// submitAll lets time go on from submission to submission.
func (r *run) submitAll(ctx context.Context) error {
	for i := range r.jobs {
		if err := r.until(ctx, r.start.Add(r.jobs[i].At), nil); err != nil {
			return err
		}
		s := r.jobs[i].Submission
		for k := range s.VMs {
			if s.VMs[k].Payload.Image == "" {
				s.VMs[k].Payload.Image = image
			}
		}
		job, err := r.shell.Submit(s) //nolint:contextcheck // nothing in virtual time blocks
		if err != nil {
			return fmt.Errorf("submit vjob %s: %w", s.Name, err)
		}
		r.recorder.submitted(r.shell.Now(), job)
	}
	return nil
}

// drain lets time go on until every vjob has ended and nothing of it is left.
func (r *run) drain(ctx context.Context) error {
	return r.until(ctx, r.limit, func() bool { return r.recorder.open == 0 })
}

// until lets time go on to an instant, or until done, and samples on the way.
func (r *run) until(ctx context.Context, to time.Time, done func() bool) error {
	for steps := 0; ; steps++ {
		if done != nil && done() {
			return nil
		}
		if steps%256 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if r.options.Progress != nil {
				all := len(r.jobs)
				r.options.Progress(r.recorder.ended, all, r.shell.Now().Sub(r.start))
			}
		}
		target := to
		if r.sampler.next.Before(target) {
			target = r.sampler.next
		}
		more, err := r.shell.Step(target) //nolint:contextcheck // nothing in virtual time blocks
		if err != nil {
			return fmt.Errorf("at %s: %w", r.shell.Now().Sub(r.start), err)
		}
		if !r.shell.Now().Before(r.sampler.next) {
			r.sample()
		}
		if !more && !r.shell.Now().Before(to) {
			return nil
		}
	}
}

// sample notes what is used at this instant.
func (r *run) sample() {
	s := Sample{At: r.shell.Now().Sub(r.start)}
	for _, n := range r.cluster.Truth().Nodes {
		s.CPU += min(n.CPUNeeded, n.Capacity.CPU)
		s.Demand += n.CPUNeeded
		s.Memory += n.MemoryUsed
	}
	r.sampler.add(s, r.shell.Now(), &r.recorder.samples)
}
