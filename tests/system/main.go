// Command system measures vjobd as its users meet it: it starts bin/vjobd on simulated clusters, loads it through its
// socket with a client of its own, and prints what it measured beside the aims and the figures of other systems.
//
//	go run ./tests/system [-size small|full] [-only submit,waiting] [-o json]
//
// Nothing of vjob is linked into it, so that no shortcut within the process is measured. CPU seconds and resident memory
// are those of the daemon's process, from /proc; latencies are those of the client. A machine with other work makes
// wall-clock figures worse and leaves CPU seconds and ratios nearly alone: the first lines say what the machine was doing.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// experiment is one of the things to measure. It returns what it found out before an error, too.
type experiment struct {
	name    string
	measure func(ctx context.Context, r *run) error
}

// experiments are in the order in which they run: the short ones first.
var experiments = []experiment{
	{"submit", measureSubmissions},
	{"events", measureEvents},
	{"streams", measureStreams},
	{"mixed", measureMix},
	{"churn", measureChurn},
	{"waiting", measureWaiting},
	{"restart", measureRestart},
	{"nodes", measureNodes},
	{"crowds", measureCrowds},
}

func main() {
	r := &run{}
	var only, size, format string
	flag.StringVar(&r.program, "bin", "bin/vjobd", "the daemon to measure")
	flag.StringVar(&r.folder, "dir", "", "folder for states of daemons; by default a temporary one")
	flag.StringVar(&size, "size", "small", "small (minutes) or full (the sizes of the aims)")
	flag.StringVar(&only, "only", "", "only these experiments, with commas in between: "+strings.Join(names(), ","))
	flag.StringVar(&format, "o", "table", "table or json")
	flag.Parse()
	if err := r.choose(size, only, format, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "system:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := r.all(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "system:", err)
		os.Exit(1)
	}
}

// run is one run of the command.
type run struct {
	program, folder string
	sizes           sizes
	chosen          []experiment
	json            bool
	figures         []figure
}

// names returns the names of the experiments.
func names() (list []string) {
	for _, e := range experiments {
		list = append(list, e.name)
	}
	return list
}

// choose reads the flags.
func (r *run) choose(size, only, format string, rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("argument %q: want none", rest[0])
	}
	switch size {
	case "small":
		r.sizes = smallSizes
	case "full":
		r.sizes = fullSizes
	default:
		return fmt.Errorf("-size %q: want small or full", size)
	}
	switch format {
	case "table":
	case "json":
		r.json = true
	default:
		return fmt.Errorf("-o %q: want table or json", format)
	}
	r.chosen = experiments
	if only == "" {
		return nil
	}
	r.chosen = nil
	for name := range strings.SplitSeq(only, ",") {
		i := slices.Index(names(), name)
		if i < 0 {
			return fmt.Errorf("-only %q: want some of %s", name, strings.Join(names(), ", "))
		}
		r.chosen = append(r.chosen, experiments[i])
	}
	return nil
}

// all runs the chosen experiments and prints the figures. The error of one experiment does not stop the others.
func (r *run) all(ctx context.Context) error {
	if r.folder == "" {
		folder, err := os.MkdirTemp("", "vjob-system-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(folder) }()
		r.folder = folder
	}
	before := lookAtMachine(r.folder)
	var failed []string
	for _, e := range r.chosen {
		fmt.Fprintf(os.Stderr, "system: %s\n", e.name)
		if err := e.measure(ctx, r); err != nil {
			failed = append(failed, fmt.Sprintf("%s: %v", e.name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	if err := r.print(os.Stdout, before, lookAtMachine(r.folder)); err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("not measured to the end: %s", strings.Join(failed, "; "))
	}
	return ctx.Err()
}

// add keeps a figure, and shows it at once on the error stream.
func (r *run) add(f figure) {
	fmt.Fprintf(os.Stderr, "system:   %s: %s\n", f.What, f.Measured)
	r.figures = append(r.figures, f)
}
