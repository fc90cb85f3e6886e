package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vjob/chart"
	"vjob/cluster"
	"vjob/energy"
	"vjob/hypervisor/simulated"
	"vjob/queue"
	"vjob/queue/backfill"
	"vjob/replay"
	"vjob/scheduler"
	"vjob/settings/document"
	"vjob/swf"
	"vjob/workload"
)

// replayFlags are the flags of `vjob replay`.
type replayFlags struct {
	policies []string
	svg      string
	// of logs
	processors int64
	jobs       int
	starts     string
	// of workload files
	profile     string
	cluster     string
	noWalltimes bool
	watts       string
	noLocks     bool
	transfers   int
	seed        uint64
	suspend     string
	quantum     time.Duration
}

// The flags that have a meaning for one kind of file only.
var (
	flagsOfLogs      = []string{"processors", "jobs", "starts"}
	flagsOfWorkloads = []string{"profile", "cluster", "no-walltimes", "no-locks", "transfers", "seed", "watts", "suspend", "quantum"}
)

func (a *app) replayCommand() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "run a workload file or a log in virtual time, and compare policies",
		Long: `Runs jobs with their times of submission in virtual time, and prints what each policy makes of
them. Nothing real is touched and no daemon is needed. FILE is one of two kinds, plain or
compressed by gzip, told apart by its content:

A workload file describes vjobs: a document with a cluster and vjobs made of components
(examples/nasgrid-8x9.json), or one line of JSON per vjob. It is run through the scheduler of the
daemon, on nodes, with context switches; printed are the times of each vjob, how well the nodes
were used, and every switch. Policies: those of the daemon, such as fcfs and firstfit.

A log in the Standard Workload Format is run on one pool of processors, without nodes and
switches; printed are waits, bounded slowdowns, the makespan, and how well the processors were used.
Policies: ` + strings.Join(backfill.Names(), ", ") + `.`,
		Example: `  vjob replay examples/nasgrid-8x9.json --svg gantt.svg
  vjob replay kth.jsonl.gz --cluster 50x2x3686MiB --policy firstfit
  vjob replay KTH-SP2.swf.gz --policy fcfs,easy,conservative
  vjob replay KTH-SP2.swf.gz --policy easy --processors 128 --jobs 5000 --starts starts.csv`,
		Args: arguments(1, "one workload file or log"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.replay(cmd.Context(), &f, cmd.Flags().Changed, args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.policies, "policy", []string{"fcfs", "firstfit"}, "`POLICIES` to run, side by side")
	flags.StringVar(&f.svg, "svg", "", "draw the Gantt charts and the utilisation into this `FILE`")
	flags.Int64Var(&f.processors, "processors", 0, "logs: size of the pool; 0 is what the log says (MaxProcs, else MaxNodes)")
	flags.IntVar(&f.jobs, "jobs", 0, "logs: only the first `NUMBER` of jobs; 0 is all")
	flags.StringVar(&f.starts, "starts", "", "logs: write the start of every job into this `FILE`, as CSV in seconds from the first submission")
	flags.StringVar(&f.profile, "profile", "thesis", "workload files: durations of actions: thesis, bin-repacking or lab")
	flags.StringVar(&f.cluster, "cluster", "", "workload files: nodes instead of the file's: `COUNTxCPUxMEMORY`, such as 50x2x3686MiB")
	flags.BoolVar(&f.noWalltimes, "no-walltimes", false, "workload files: end no vjob at its walltime")
	flags.BoolVar(&f.noLocks, "no-locks", false, "workload files: no lock manager: vjobs are paused to be moved")
	flags.IntVar(&f.transfers, "transfers", 0, "workload files: saves, restores and migrations at once on one node; 0 is the default")
	flags.StringVar(&f.watts, "watts", "150:250", "workload files: what each node draws, `IDLE:FULL`; between them in proportion to the load of its processors")
	flags.StringVar(&f.suspend, "suspend", "", "workload files: where vjobs are suspended to: `disk, auto or memory`; auto for timeslices, else disk")
	flags.DurationVar(&f.quantum, "quantum", queue.DefaultQuantum, "workload files: how long each slot of timeslices runs")
	flags.Uint64Var(&f.seed, "seed", 0, "workload files: of everything that is left to chance")
	complete(cmd, "policy", backfill.Names()...)
	complete(cmd, "suspend", "disk", "auto", "memory")
	complete(cmd, "profile", "thesis", "bin-repacking", "lab")
	return cmd
}

// replay runs a file as what it is.
func (a *app) replay(ctx context.Context, f *replayFlags, given func(flag string) bool, path string) error {
	if len(f.policies) == 0 {
		return cluster.BadField("--policy", "", "one at least")
	}
	svg, err := writable("--svg", f.svg, path, f.starts)
	if err != nil {
		return err
	}
	starts, err := writable("--starts", f.starts, path)
	if err != nil {
		return err
	}
	return a.readFrom("file", path, func(in io.Reader, name string) error {
		b := bufio.NewReader(in)
		beginning, err := b.Peek(4096)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s: %w", name, err)
		}
		foreign, kind, other := flagsOfLogs, "a log", "a workload file"
		log := swf.Looks(beginning) || strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".swf")
		if log {
			foreign, kind, other = flagsOfWorkloads, other, kind
		}
		for _, flag := range foreign {
			if given(flag) {
				return cluster.BadField("--"+flag, "given", fmt.Sprintf("%s with it: %s is %s", kind, name, other))
			}
		}
		if log {
			return a.replayLog(ctx, f, b, name, svg, starts)
		}
		return a.replayWorkload(ctx, f, b, name, svg)
	})
}

func (a *app) replayWorkload(ctx context.Context, f *replayFlags, in io.Reader, name string, svg *target) error {
	data, err := document.ReadFrom(name, in)
	if err != nil {
		return err
	}
	w, err := workload.Parse(name, data)
	if err != nil {
		return err
	}
	if f.noWalltimes {
		w.DropWalltimes()
	}
	o, err := f.options(w)
	if err != nil {
		return err
	}
	power, err := parseWatts(f.watts)
	if err != nil {
		return err
	}
	var results []*replay.Result
	for _, policy := range f.policies {
		if o.Policy, err = queue.ByName(policy); err != nil {
			return renamed(err, "--policy")
		}
		if err = f.suit(&o); err != nil {
			return err
		}
		bar := a.progress(policy, "vjobs")
		o.Progress = bar.show
		r, err := replay.Run(ctx, w, o)
		bar.end()
		if err != nil {
			return fmt.Errorf("replay %s with %s: %w", name, policy, err)
		}
		results = append(results, r)
	}
	title := w.Title
	if title == name {
		title = filepath.Base(name)
	}
	err = svg.write(func(w io.Writer) error { return chart.Write(w, replay.Figure(title, results)) })
	if err != nil {
		return err
	}
	if a.json() {
		return printJSON(a.out, replayJSON(title, results, power), true)
	}
	return a.showReplay(title, results, power)
}

// parseWatts reads IDLE:FULL.
func parseWatts(s string) (p energy.Power, err error) {
	idle, full, ok := strings.Cut(s, ":")
	low, err1 := strconv.ParseFloat(idle, 64)
	high, err2 := strconv.ParseFloat(full, 64)
	const most = 1e6
	if !ok || err1 != nil || err2 != nil || !(low >= 0 && high >= low && high <= most) {
		return p, cluster.BadField("--watts", s, "IDLE:FULL in watts, such as 150:250, the second not less than the first")
	}
	return energy.Power{Idle: energy.Watts(low), Full: energy.Watts(high)}, nil
}

// drawn is what the nodes use in all, none of them ever off. Power is linear in the
// load, so the mean load tells it.
func drawn(r *replay.Result, s *replay.Summary, p energy.Power) energy.Joules {
	return energy.Joules(float64(p.At(s.CPUUsed)) * float64(r.Nodes) * s.Total.Seconds())
}

// options are how a workload file is run.
func (f *replayFlags) options(w *workload.Workload) (o replay.Options, err error) {
	o = replay.Options{Locks: !f.noLocks, Seed: f.seed, Transfers: f.transfers}
	if o.Profile, err = simulated.ProfileNamed(f.profile); err != nil {
		return o, renamed(err, "--profile")
	}
	if f.cluster != "" {
		if o.Nodes, err = parseCluster(f.cluster); err != nil {
			return o, err
		}
	}
	if len(w.Nodes) == 0 && len(o.Nodes) == 0 {
		return o, cluster.BadField("--cluster", "", "COUNTxCPUxMEMORY, such as 50x2x3686MiB: the file does not say what the nodes are")
	}
	return o, nil
}

// suit adds to the options what depends on their policy.
func (f *replayFlags) suit(o *replay.Options) (err error) {
	if slots, ok := o.Policy.(queue.TimeSlices); ok {
		slots.Quantum = f.quantum
		o.Policy = slots
	}
	if f.quantum < queue.LeastQuantum {
		return cluster.BadField("--quantum", f.quantum, "at least "+queue.LeastQuantum.String())
	}
	o.Suspend, err = scheduler.SuspensionNamed(f.suspend, o.Policy)
	return renamed(err, "--suspend")
}

// parseCluster reads COUNTxCPUxMEMORY.
func parseCluster(s string) ([]cluster.Node, error) {
	bad := cluster.BadField("--cluster", s, "COUNTxCPUxMEMORY, such as 50x2x3686MiB")
	parts := strings.SplitN(s, "x", 3)
	if len(parts) != 3 {
		return nil, bad
	}
	n, err := strconv.Atoi(parts[0])
	size, err1 := cluster.ParseCPU(parts[1])
	memory, err2 := cluster.ParseMiB(parts[2])
	if errors.Join(err, err1, err2) != nil || n < 1 || n > 10_000 || size < 1 || memory < 1 {
		return nil, bad
	}
	nodes := make([]cluster.Node, n)
	for i := range nodes {
		nodes[i] = cluster.Node{
			ID:       cluster.NodeID(fmt.Sprintf("n%0*d", len(parts[0]), i+1)),
			Capacity: cluster.Resources{CPU: size, Memory: memory},
		}
	}
	return nodes, nil
}
