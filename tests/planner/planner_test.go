package planner_test

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"vjob/repack"
	"vjob/repack/solve"
)

var (
	table = flag.Bool("table", false, "print the table of figures")
	limit = flag.Duration("limit", 10*time.Second, "how long the planner may search for each problem")
	set   = flag.String("set", "", "only instances with this prefix of their name")
	cpu   = flag.Bool("cpu", false, "all times are processor time of both workers together")
)

// run is the result of one search, with its times.
type run struct {
	*solve.Result
	first, close, whole time.Duration // until the first plan, one within 1 % of the last, and the end
	memory              uint64        // most bytes of heap in use
}

// watch returns a clock that begins now: of the wall, or with -cpu of the processor.
func watch() func() time.Duration {
	start, used := time.Now(), processorTime()
	return func() time.Duration {
		if *cpu {
			return processorTime() - used
		}
		return time.Since(start)
	}
}

// processorTime returns what the process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// search runs the planner for a limited time.
func search(t *testing.T, in *repack.Instance, limit time.Duration) run {
	t.Helper()
	debug.FreeOSMemory()
	var r run
	type step struct {
		at        time.Duration
		objective int64
	}
	var steps []step
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	look := func() {
		metrics.Read(heap)
		r.memory = max(r.memory, heap[0].Value.Uint64())
	}
	clock := watch()
	result, err := solve.Solve(in, solve.Options{
		Seed: 1, Workers: 2,
		Stop: func() bool { return clock() > limit },
		Found: func(f repack.Figures, _ int64) {
			look()
			steps = append(steps, step{clock(), f.Objective})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	look()
	r.Result, r.whole = result, clock()
	if len(steps) == 0 {
		return r
	}
	r.first = steps[0].at
	for _, s := range steps {
		r.close = s.at
		if s.objective*100 <= r.Figures.Objective*101 {
			break
		}
	}
	return r
}

// valid checks the plan.
func (r *run) valid(t *testing.T, in *repack.Instance) {
	t.Helper()
	if r.Plan == nil {
		return
	}
	report, err := repack.Check(in, r.Plan)
	if err != nil || !report.Valid() {
		t.Fatalf("%v %v", err, report.Faults)
	}
	if r.Bound > r.Figures.Objective {
		t.Errorf("bound %d, objective %d", r.Bound, r.Figures.Objective)
	}
}

// In a second the planner solves every instance of testdata that other planners solve, and no
// plan is worse than theirs.
func TestNoWorse(t *testing.T) {
	known := figures(t)
	for _, path := range instances(t) {
		name := nameOf(path)
		t.Run(name, func(t *testing.T) {
			p := load(t, path)
			r := search(t, p.Instance, time.Second)
			r.valid(t, p.Instance)
			o := known[name]
			for _, f := range []found{o.BtrPlace, o.Greedy} {
				if f.Solved && (r.Plan == nil || r.Figures.Objective > f.Objective) {
					t.Errorf("objective %d, others have %d; %q", r.Figures.Objective, f.Objective, r.Why)
				}
			}
			if simple := serverBound(p); o.LowerBound > 0 && simple != o.LowerBound || r.Plan != nil && r.Bound < simple {
				t.Errorf("bound %d, the simple one is %d, others compute %d", r.Bound, simple, o.LowerBound)
			}
		})
	}
}

// TestTable prints the results on all instances.
func TestTable(t *testing.T) {
	if !*table {
		t.Skip("-table prints the figures, for each problem -limit")
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	defer func() { _ = w.Flush() }()
	row := func(cells ...any) {
		words := make([]string, len(cells))
		for i, c := range cells {
			words[i] = fmt.Sprint(c)
		}
		_, _ = fmt.Fprintf(w, "| %s |\n", strings.Join(words, "\t | "))
		_ = w.Flush()
	}
	row("instance", "objective", "simple bound", "our bound", "over simple", "over ours", "migrations", "makespan",
		"first plan", "within 1 %", "end", "MiB", "BtrPlace", "CPU", "greedy", "CPU")
	row("---", "---", "---", "---", "---", "---", "---", "---", "---", "---", "---", "---", "---", "---", "---", "---")
	known := figures(t)
	for _, path := range instances(t) {
		if name := nameOf(path); strings.HasPrefix(name, *set) {
			p := load(t, path)
			r, o := search(t, p.Instance, *limit), known[name]
			r.valid(t, p.Instance)
			row(append(r.cells(name, serverBound(p)), o.BtrPlace.objective(), o.BtrPlace.seconds(), o.Greedy.objective(), o.Greedy.seconds())...)
		}
	}
	for _, m := range append(plantations(), huge(t, false), huge(t, true)) {
		if strings.HasPrefix(m.name, *set) {
			r := search(t, m.in, *limit)
			r.valid(t, m.in)
			row(append(r.cells(m.name, 0), "", "", "", "")...)
		}
	}
}

// cells returns the cells of a row of the table.
func (r *run) cells(name string, simple int64) []any {
	second := func(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
	if r.Plan == nil {
		what := [...]string{"", "impossible", "none in time", "none found"}[r.Verdict]
		return []any{name, what, "", "", "", "", "", "", "", "", second(r.whole), r.memory >> 20}
	}
	over := func(bound int64) string {
		if bound == 0 {
			return ""
		}
		return fmt.Sprintf("%.3f", float64(r.Figures.Objective)/float64(bound))
	}
	objective := fmt.Sprint(r.Figures.Objective)
	if r.Proved {
		objective += ", proved best"
	}
	first := fmt.Sprint(simple)
	if simple == 0 {
		first = ""
	}
	return []any{
		name, objective, first, r.Bound, over(simple), over(r.Bound), r.Figures.Migrations, r.Figures.Makespan,
		second(r.first), second(r.close), second(r.whole), r.memory >> 20,
	}
}

func (f found) objective() string {
	switch {
	case f.CPU == 0:
		return "" // not measured
	case !f.Solved:
		return "none"
	}
	return fmt.Sprint(f.Objective)
}

func (f found) seconds() string {
	if f.CPU == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f s", f.CPU)
}
