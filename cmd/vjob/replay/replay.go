// Package replay has the command that runs workloads and logs in virtual time.
package replay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/energy"
	"vjob/internal/document"
	"vjob/papers/jobs/backfill"
	"vjob/queue"
	"vjob/sim/replay"
	"vjob/sim/swf"
	"vjob/sim/workload"
)

// replayFlags are the flags of `vjob replay`.
type replayFlags struct {
	policies []string
	svg      string
	starts   string
	jobs     int
	// of logs on a pool
	processors int64
	// of logs as vjobs
	fields []string
	phases bool
	// of workload files, and of logs as vjobs
	settings    []string
	start       string
	all         bool
	profile     string
	cluster     string
	noWalltimes bool
	watts       string
	noLocks     bool
	transfers   int
	learn       bool
	seed        uint64
	suspend     string
	parameters  map[string]*string // of policies, by name
}

// The flags that have a meaning in one way to run a file only.
var (
	flagsOfPools = []string{"processors"}
	flagsOfLogs  = []string{"fields", "phases"}
	flagsOfVJobs = []string{"profile", "no-walltimes", "no-locks", "transfers", "learn", "seed", "watts", "suspend", "start", "all"}
	nodesOfLogs  = []string{"cluster", "settings"} // one of them makes vjobs of the jobs of a log
)

// Command is `vjob replay`.
func Command(a *cli.App) *cobra.Command {
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
were used, and every switch. Policies:
` + describePolicies() + `

With --settings the vjobs are run under the settings of a daemon: its queues, priorities, shares,
quotas, rules and budgets. More than one file, or more than one policy, are compared: how long who
waits, by queue and by user, and what changes.

A log in the Standard Workload Format is run on one pool of processors, without nodes and
switches; printed are waits, bounded slowdowns, the makespan, and how well the processors were used.
Policies: ` + strings.Join(backfill.Names(), ", ") + `. With --cluster or --settings
its jobs are made vjobs, a VM for each processor, and run as a workload file is.`,
		Example: `  vjob replay examples/nasgrid-8x9.json --svg gantt.svg
  vjob replay kth.jsonl.gz --cluster 50x2x3686MiB --policy easy,dynamic-easy
  vjob replay KTH-SP2.swf.gz --policy fcfs,easy,conservative
  vjob replay KTH-SP2.swf.gz --policy easy --processors 128 --jobs 5000 --starts starts.csv
  vjob replay last-month.swf.gz --settings /etc/vjob/vjobd.yaml --settings new.yaml --fields user,queue`,
		Args: cli.Arguments(1, "one workload file or log"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), a, &f, cmd.Flags().Changed, args[0])
		},
	}
	f.register(cmd.Flags())
	cli.Complete(cmd, "policy", backfill.Names()...)
	cli.Complete(cmd, "fields", fieldNames...)
	cli.Complete(cmd, "suspend", "disk", "auto", "memory")
	cli.Complete(cmd, "profile", "thesis", "bin-repacking", "lab")
	return cmd
}

// register defines the flags.
func (f *replayFlags) register(flags *pflag.FlagSet) {
	cli.WordsVar(flags, &f.policies, "policy", []string{"fcfs", "firstfit"}, "`POLICIES` to run, side by side; with --settings theirs, unless this is given")
	flags.StringVar(&f.svg, "svg", "", "draw the Gantt charts and the utilisation into this `FILE`")
	flags.StringVar(&f.starts, "starts", "", "write the start of every job into this `FILE`, as CSV in seconds from the first submission")
	flags.IntVar(&f.jobs, "jobs", 0, "only the first `NUMBER` of jobs; 0 is all")
	flags.Int64Var(&f.processors, "processors", 0, "logs on a pool: its size; 0 is what the log says (MaxProcs, else MaxNodes)")
	flags.StringArrayVar(&f.settings, "settings", nil, "run vjobs under the settings of a daemon in this `FILE`; several are compared with the first")
	flags.StringVar(&f.cluster, "cluster", "", "nodes for vjobs, instead of those of the file or of the settings: `COUNTxCPUxMEMORY`, such as 50x2x3686MiB")
	cli.WordsVar(flags, &f.fields, "fields", []string{"user"}, "logs as vjobs: `FIELDS` that count: user, group, queue, preceding, think")
	flags.BoolVar(&f.phases, "phases", false, "logs as vjobs: suppose that the VMs of a job need their CPU in phases, and memory")
	flags.StringVar(&f.start, "start", "", "vjobs: `DATE` at which they begin, for windows in time; as if none is given what the file says, or 2026-01-01")
	flags.StringVar(&f.profile, "profile", "thesis", "vjobs: durations of actions: thesis, bin-repacking or lab")
	flags.BoolVar(&f.noWalltimes, "no-walltimes", false, "vjobs: end none at its walltime")
	flags.BoolVar(&f.noLocks, "no-locks", false, "vjobs: no lock manager: they are paused to be moved")
	flags.BoolVar(&f.learn, "learn", false, "vjobs: durations of actions are learned, as the daemon does; otherwise plans use those of the profile")
	flags.IntVar(&f.transfers, "transfers", 0, "vjobs: saves, restores and migrations at once on one node; 0 is the default")
	flags.StringVar(&f.watts, "watts", "150:250", "vjobs: what each node draws, `IDLE:FULL`; between them in proportion to the load of its processors")
	flags.StringVar(&f.suspend, "suspend", "", "vjobs: where they are suspended to: `disk, auto or memory`; auto for timeslices, else disk; with --settings as they say")
	f.parameters = map[string]*string{}
	for _, p := range parameters() {
		f.parameters[p.Name] = flags.String(flagOf(p.Name), p.Default, "vjobs: "+p.Usage)
	}
	flags.Uint64Var(&f.seed, "seed", 0, "vjobs: seed of all random choices")
	flags.BoolVar(&f.all, "all", false, "vjobs: print every vjob and every switch, also where there are many")
}

// describePolicies returns a line for each policy.
func describePolicies() string {
	var lines []string
	for _, k := range queue.PolicyKinds() {
		lines = append(lines, fmt.Sprintf("  %-13s %s", k.Name, k.Description))
	}
	return strings.Join(lines, "\n")
}

// run replays a workload file or a log, by the form of the file.
func run(ctx context.Context, a *cli.App, f *replayFlags, given func(flag string) bool, path string) error {
	if len(f.policies) == 0 {
		return cluster.BadField("--policy", "", "one at least")
	}
	if f.jobs < 0 {
		return cluster.BadField("--jobs", f.jobs, "1 or more, or 0 for all")
	}
	svg, err := cli.Writable("--svg", f.svg, path, f.starts)
	if err != nil {
		return err
	}
	starts, err := cli.Writable("--starts", f.starts, path)
	if err != nil {
		return err
	}
	return a.ReadFrom("file", path, func(in io.Reader, name string) error {
		b := bufio.NewReader(in)
		beginning, err := b.Peek(4096)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s: %w", name, err)
		}
		log := swf.Looks(beginning) || strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".swf")
		pool := log && !slices.ContainsFunc(nodesOfLogs, given)
		if err := f.suits(given, name, log, pool); err != nil {
			return err
		}
		if pool {
			return replayLog(ctx, a, f, b, name, svg, starts)
		}
		t := replayTargets{svg, starts}
		if log {
			return replayLogged(ctx, a, f, given, b, name, t)
		}
		data, err := document.ReadFrom(name, b)
		if err != nil {
			return err
		}
		w, err := workload.Parse(name, data)
		if err != nil {
			return err
		}
		return replayWorkload(ctx, a, f, given, &replayedWorkload{name: name, workload: w}, t)
	})
}

// suits refuses flags that mean nothing for a file that is run so.
func (f *replayFlags) suits(given func(flag string) bool, name string, log, pool bool) error {
	for _, c := range []struct {
		wrong bool
		flags []string
		want  string
	}{
		{!log, flagsOfLogs, "requires a log; " + name + " is a workload file"},
		{!log, flagsOfPools, "requires a log; " + name + " is a workload file"},
		{log && !pool, flagsOfPools, "excludes --cluster and --settings, which say how many processors there are"},
		{pool, append(parameterFlags(), flagsOfVJobs...), "requires a workload file, or --cluster or --settings; " + name + " is a log"},
		{pool, flagsOfLogs, "requires --cluster or --settings: on a pool only times and processors count"},
	} {
		for _, flag := range c.flags {
			if c.wrong && given(flag) {
				return cluster.Fault("--"+flag, "%s", c.want)
			}
		}
	}
	return nil
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
