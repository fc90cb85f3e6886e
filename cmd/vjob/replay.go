package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vjob/chart"
	"vjob/cluster"
	"vjob/hypervisor/simulated"
	"vjob/queue"
	"vjob/replay"
	"vjob/workload"
)

// replayFlags are the flags of `vjob replay`.
type replayFlags struct {
	policies    []string
	profile     string
	svg         string
	cluster     string
	noWalltimes bool
	noLocks     bool
	transfers   int
	seed        uint64
}

func (a *app) replayCommand() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "run a workload file in virtual time, and compare policies",
		Long: `Runs a file of vjobs with their times of submission in virtual time through the scheduler of
the daemon, and prints when each vjob ran, the totals, how well the nodes were used, and every
context switch. Nothing real is touched and no daemon is needed.

FILE is a document with a cluster and vjobs made of components (examples/nasgrid-8x9.json), or
one line of JSON per vjob; both may be compressed by gzip.`,
		Example: `  vjob replay examples/nasgrid-8x9.json --svg gantt.svg
  vjob replay kth.jsonl.gz --cluster 50x2x3686MiB --policy firstfit`,
		Args: arguments(1, "one workload file"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.replay(cmd.Context(), &f, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.policies, "policy", []string{"fcfs", "firstfit"}, "`POLICIES` to run, side by side")
	flags.StringVar(&f.profile, "profile", "thesis", "durations of actions: thesis, bin-repacking or lab")
	flags.StringVar(&f.svg, "svg", "", "draw the Gantt charts and the utilisation into this `FILE`")
	flags.StringVar(&f.cluster, "cluster", "", "nodes instead of the file's: `COUNTxCPUxMEMORY`, such as 50x2x3686MiB")
	flags.BoolVar(&f.noWalltimes, "no-walltimes", false, "end no vjob at its walltime")
	flags.BoolVar(&f.noLocks, "no-locks", false, "no lock manager: vjobs are paused to be moved")
	flags.IntVar(&f.transfers, "transfers", 0, "saves, restores and migrations at once on one node; 0 is the default")
	flags.Uint64Var(&f.seed, "seed", 0, "of everything that is left to chance")
	complete(cmd, "policy", "fcfs", "firstfit")
	complete(cmd, "profile", "thesis", "bin-repacking", "lab")
	return cmd
}

func (a *app) replay(ctx context.Context, f *replayFlags, file string) error {
	profile, err := simulated.ProfileNamed(f.profile)
	if err != nil {
		return renamed(err, "--profile")
	}
	w, err := workload.Read(file)
	if err != nil {
		return err
	}
	if f.noWalltimes {
		w.DropWalltimes()
	}
	o := replay.Options{Profile: profile, Locks: !f.noLocks, Seed: f.seed, Transfers: f.transfers}
	if f.cluster != "" {
		if o.Nodes, err = parseCluster(f.cluster); err != nil {
			return err
		}
	}
	if len(w.Nodes) == 0 && len(o.Nodes) == 0 {
		return cluster.BadField("--cluster", "", "COUNTxCPUxMEMORY, such as 50x2x3686MiB: the file does not say what the nodes are")
	}
	var results []*replay.Result
	for _, name := range f.policies {
		if o.Policy, err = queue.ByName(name); err != nil {
			return renamed(err, "--policy")
		}
		bar := a.progress(name)
		o.Progress = bar.show
		r, err := replay.Run(ctx, w, o)
		bar.end()
		if err != nil {
			return fmt.Errorf("replay %s with %s: %w", file, name, err)
		}
		results = append(results, r)
	}
	title := w.Title
	if title == file {
		title = filepath.Base(file)
	}
	if f.svg != "" {
		if err := writeFigure(f.svg, replay.Figure(title, results)); err != nil {
			return err
		}
	}
	if a.json() {
		return printJSON(a.out, replayJSON(title, results), true)
	}
	return a.showReplay(title, results)
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

func writeFigure(path string, f *chart.Figure) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return cluster.BadField("--svg", path, "a file that can be written: "+err.Error())
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	b := bufio.NewWriter(out)
	return errors.Join(chart.Write(b, f), b.Flush())
}

// progressBar is one line on the standard error, redrawn in place.
type progressBar struct {
	out   io.Writer // nil when nobody looks
	name  string
	now   func() time.Time
	last  time.Time
	drawn bool
}

func (a *app) progress(name string) *progressBar {
	bar := &progressBar{name: name, now: a.now, last: a.now()}
	if a.width() > 0 {
		bar.out = a.err
	}
	return bar
}

// show draws the bar, at most ten times a second.
func (b *progressBar) show(ended, all int, at time.Duration) {
	if b.out == nil || b.now().Sub(b.last) < 100*time.Millisecond {
		return
	}
	b.last, b.drawn = b.now(), true
	_, _ = fmt.Fprintf(b.out, "\r%-9s %s %d of %d vjobs, %s of virtual time ", b.name, gauge(float64(ended)/float64(max(1, all)), 24), ended, all, replay.Clock(at))
}

func (b *progressBar) end() {
	if b.drawn {
		_, _ = io.WriteString(b.out, "\r\x1b[K")
	}
}
