package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"vjob/cluster"
	"vjob/cmd/program"
	"vjob/cmd/vjob/cli"
	"vjob/internal/chart"
	"vjob/papers/consolidation"
	"vjob/repack"
	"vjob/repack/format"
	"vjob/repack/solve"
)

// objectives are the words of --objective, in the order of the constants of
// package repack.
var objectives = []string{"completion", "makespan", "migrations", "moved", "nodes"}

// planFlags are the flags of `vjob plan`.
type planFlags struct {
	in, out, svg string
	deadline     time.Duration
	seed         uint64
	iterations   int
	objective    string
	workers      int
	whatIf       whatIfFlags
}

func planCommand(a *cli.App) *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan {--in INSTANCE [--out PLAN] | --what-if}",
		Short: "find the cheapest plan for an instance file, or ask the daemon what it would do",
		Long: `Reads where VMs run and what is wanted of them, and writes timed actions that lead there: no
node is ever over its capacity and no rule is broken on the way. The longer it may search, the
better the plan; a first plan has twice the deadline. No daemon is needed and nothing real is touched.

With --what-if the daemon says what it would do at once if nodes were added, drained, off, lost or back,
VMs demanded more or less, other pools or rules were stated, vjobs were gone or one was submitted: the
load, power, entitlements and waits before and after, which vjobs would fare otherwise, and the context
switch. Nothing is changed. With --place it also ranks the places where a vjob could start, each with
its reason, and says why other nodes take none of its VMs.

The files are brsp-instance/1 and brsp-plan/1, plain or compressed by gzip; docs/reference/plan-files.md
shows them. Their times are in seconds. The same instance, seed and number of iterations give the same
plan, if the deadline does not come first.

Exit codes: 0 a plan was found, 2 a file or flag is wrong, 3 there is no plan, or none was found;
then nothing is written.`,
		Example: `  vjob plan --in instance.json --out plan.json --deadline 30s --svg plan.svg
  vjob check --in instance.json --plan plan.json
  vjob plan --what-if --drain n3,n4
  vjob plan --what-if --add n4=n1 --demand pool:physics=+30%
  vjob plan --what-if --submit big.yaml -o json
  vjob plan --what-if --place big.yaml --alternatives 3`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.whatIf.on {
				return whatIf(cmd.Context(), a, &f)
			}
			for _, name := range []string{"add", "demand", "pools", "drain", "off", "lose", "online", "without", "rules", "budget", "submit", "place", "alternatives"} {
				if cmd.Flags().Changed(name) {
					return &cli.UsageError{Cmd: cmd, Err: fmt.Errorf("--%s: needs --what-if", name)}
				}
			}
			return plan(cmd.Context(), a, &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.in, "in", "", "the instance: a `FILE`, or - for the standard input")
	flags.StringVar(&f.out, "out", "", "write the plan into this `FILE`")
	flags.StringVar(&f.svg, "svg", "", "draw the plan into this `FILE`")
	flags.DurationVar(&f.deadline, "deadline", 10*time.Second, "`TIME` to search; 0 is until the plan is the best or no way to a better one is seen")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of all random choices")
	flags.IntVar(&f.iterations, "iterations", 0, "`NUMBER` of attempts to improve the first plan; 0 is no limit, -1 none at all")
	flags.StringVar(&f.objective, "objective", objectives[0], "what the plan shall have the least of: "+strings.Join(objectives, ", "))
	flags.IntVar(&f.workers, "workers", 1, "`NUMBER` of searches in parallel")
	w := &f.whatIf
	flags.BoolVar(&w.on, "what-if", false, "ask the daemon what it would do if …")
	cli.WordsVar(flags, &w.add, "add", nil, "… there were new `NODES` like existing ones: n4=n1 or n[4-6]=n1 or 2xn1")
	cli.WordsVar(flags, &w.demand, "demand", nil, "… VMs had another CPU `DEMAND`: all=+30% or pool:physics=+30% or owner:ann=-20% or vjob:12=2.5 (CPU of each VM)")
	flags.StringVar(&w.pools, "pools", "", "… the pools of this `FILE` replaced all pools")
	cli.WordsVar(flags, &w.drain, "drain", nil, "… these `NODES` were drained: n1,n2 or n[1-4] or rack=A")
	cli.WordsVar(flags, &w.off, "off", nil, "… these `NODES` were drained and switched off")
	cli.WordsVar(flags, &w.lose, "lose", nil, "… these `NODES` were dead, with what runs there")
	cli.WordsVar(flags, &w.online, "online", nil, "… these `NODES` took VMs again")
	cli.WordsVar(flags, &w.without, "without", nil, "… these `VJOBS` were gone: 12,sweep")
	flags.StringVar(&w.rules, "rules", "", "… the rules of this `FILE` were stated")
	flags.StringVar(&w.budget, "budget", "", "… the cluster might draw so many `WATTS`, such as 9kW")
	flags.StringVar(&w.submit, "submit", "", "… the vjob of this `FILE`, a vjob file or a script, were submitted")
	flags.StringVar(&w.place, "place", "", "list placements of a vjob that waits: the number or the name of the `VJOB`, or a vjob file")
	flags.IntVar(&w.alternatives, "alternatives", 0, "`NUMBER` of placements to list at most; default: 5")
	cli.Complete(cmd, "objective", objectives...)
	return cmd
}

// check says which flag is wrong.
func (f *planFlags) check() error {
	switch {
	case !slices.Contains(objectives, f.objective):
		return cluster.BadField("--objective", f.objective, "one of "+strings.Join(objectives, ", "))
	case f.deadline < 0:
		return cluster.BadField("--deadline", f.deadline, "a time such as 10s, or 0 for none")
	case f.iterations < -1:
		return cluster.BadField("--iterations", f.iterations, "a number from 0 on, or -1 for the first plan as it is")
	case f.workers < 1 || f.workers > 1024:
		return cluster.BadField("--workers", f.workers, "a number from 1 to 1024")
	}
	return nil
}

func plan(ctx context.Context, a *cli.App, f *planFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	out, err := cli.Writable("--out", f.out, f.in)
	if err != nil {
		return err
	}
	svg, err := cli.Writable("--svg", f.svg, f.in, f.out)
	if err != nil {
		return err
	}
	in, err := readProblem(a, f.in)
	if err != nil {
		return err
	}
	s, err := search(ctx, a, in, f)
	if err != nil {
		return err
	}
	if s.result.Verdict == solve.Solved {
		err = errors.Join(
			svg.Write(func(w io.Writer) error { return chart.WriteTimetable(w, planFigure(in, s)) }),
			out.Write(func(w io.Writer) error {
				return format.WritePlan(w, in, &format.PlanFile{Instance: in.Name, Solver: "vjob " + program.Version(), Plan: s.result.Plan})
			}),
		)
		if err != nil {
			return err
		}
	}
	if err := showPlanned(a, in, f, s); err != nil {
		return err
	}
	return s.failure(f)
}

// searched is what a search came to, and how long it took.
type searched struct {
	result  *solve.Result
	figures repack.Figures // as the checker finds them
	broken  []string       // of the soft rules
	first   time.Duration  // until the first plan; -1 without one
	elapsed time.Duration
}

// search makes a plan within the deadline, and checks it with an independent checker.
func search(ctx context.Context, a *cli.App, in *repack.Instance, f *planFlags) (*searched, error) {
	s := &searched{first: -1}
	began := a.Now()
	line := newLine(a, f)
	var guard sync.Mutex // workers tell and ask when they like
	o := solve.Options{
		Seed: f.seed, Iterations: f.iterations, Workers: f.workers, Explain: true,
		Stop: func() bool {
			guard.Lock()
			defer guard.Unlock()
			passed := a.Now().Sub(began)
			line.show(passed)
			return ctx.Err() != nil || f.deadline > 0 && passed >= f.deadline
		},
		// The deadline ends the improvement. A first plan has as long again.
		Abort: func() bool {
			return ctx.Err() != nil || f.deadline > 0 && a.Now().Sub(began) >= 2*f.deadline
		},
		Found: func(figures repack.Figures, bound int64) {
			guard.Lock()
			defer guard.Unlock()
			passed := a.Now().Sub(began)
			if s.first < 0 {
				s.first = passed
			}
			line.found(figures, bound)
			line.show(passed)
		},
	}
	result, err := f.solve(in, o)
	s.elapsed = a.Now().Sub(began)
	line.end()
	if err != nil { // the instance contradicts itself
		result = &solve.Result{Verdict: solve.Impossible, Why: []string{err.Error()}}
	}
	s.result = result
	if result.Verdict != solve.Solved {
		return s, nil
	}
	if s.first < 0 {
		s.first = s.elapsed
	}
	report, err := repack.Check(in, result.Plan)
	if err != nil {
		return nil, fmt.Errorf("check the plan: %w", err)
	}
	if !report.Valid() {
		return nil, fmt.Errorf("this is a mistake of vjob, please report it: the plan is wrong, and was not written: %s", report.Faults[0])
	}
	s.figures, s.broken = report.Figures, report.Broken
	return s, nil
}

// solve searches for a plan with the objective of the flags.
func (f *planFlags) solve(in *repack.Instance, o solve.Options) (*solve.Result, error) {
	if f.objective == "nodes" {
		return consolidation.Plan(in, o)
	}
	o.Objective = repack.Objective(slices.Index(objectives, f.objective))
	return solve.Solve(in, o)
}

// failure is what a search without a plan ends with.
func (s *searched) failure(f *planFlags) error {
	if s.result.Verdict == solve.Solved {
		return nil
	}
	return &cli.ExitError{Code: cli.ExitNoPlan, Text: s.verdict(f)}
}

// verdict is the outcome in words, with the explanation.
func (s *searched) verdict(f *planFlags) string {
	var text string
	switch s.result.Verdict {
	case solve.Solved:
		return "solved"
	case solve.Impossible:
		text = "no plan exists (proved)"
	case solve.OutOfTime:
		text = "no plan was found within " + f.deadline.String() + ": there may be one; --deadline gives more time"
		if f.deadline == 0 || s.elapsed < f.deadline {
			text = "no plan was found in the time: the search was stopped"
		}
	default:
		text = "no plan was found by any of the searches: there may be one, nothing is proved"
	}
	for _, why := range s.result.Why {
		text += "\n  " + why
	}
	return text
}

// value is what the objective of a plan comes to; false: it cannot be told from
// the figures.
func value(objective string, f *repack.Figures) (int64, bool) {
	switch objective {
	case "completion":
		return f.Objective, true
	case "makespan":
		return int64(f.Makespan), true
	case "migrations":
		return int64(f.Migrations), true
	case "nodes":
		return int64(f.NodesUsed), true
	default: // memory moved: not known while the search goes on
		return f.Cost, f.Cost > 0 || f.Migrations+f.Count[repack.Suspend]+f.Count[repack.Resume] == 0
	}
}
