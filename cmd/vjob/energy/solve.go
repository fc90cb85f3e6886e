package energy

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vjob/cluster"
	"vjob/cmd/program"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/cmd/vjob/energy/format"
	"vjob/energy"
)

// shareWords are the words of --shares.
var shareWords = []string{"equal", "fair", "sum"}

// energyFlags are the flags of `vjob energy solve`.
type energyFlags struct {
	in, out, shares string
	method
}

func energySolveCommand(a *cli.App) *cobra.Command {
	var f energyFlags
	cmd := &cobra.Command{
		Use:   "solve --in INSTANCES [--out ALLOCATIONS]",
		Short: "find the best allocation for each instance of a file",
		Long: `Finds for each instance where its jobs run and which share of the CPU each gets, and writes
the allocations. Our own method searches until the deadline or until the best is proved, on all
processors; the algorithms of the paper are there to compare with. With --steps the same file and
seed give the same allocations.

Exit codes: 0 there is an answer for each instance (the table says which have none), 2 a file or
flag is wrong, 3 no instance has an allocation.`,
		Example: `  vjob energy solve --in instances.json --out allocations.json --deadline 1s
  vjob energy check --in instances.json --allocations allocations.json`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.steps > 0 && !cmd.Flags().Changed("deadline") {
				f.deadline = 0 // the clock has no say in what is to be the same every time
			}
			return energySolve(cmd.Context(), a, &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.in, "in", "", "the instances: a `FILE`, a folder, or - for the standard input")
	flags.StringVar(&f.out, "out", "", "write the allocations into this `FILE`")
	flags.StringVar(&f.name, "algorithm", ours, "`NAME` of the method: "+strings.Join(algorithms(), ", "))
	flags.DurationVar(&f.deadline, "deadline", time.Second, "`TIME` to search for each instance; 0, and the default with --steps, is no limit")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of all random choices")
	flags.IntVar(&f.steps, "steps", 0, "`NUMBER` of steps of the search for each instance; 0 is no limit")
	flags.StringVar(&f.shares, "shares", shareWords[0], "how to share power above the least yield under a power budget: equal (all get the least yield), fair (the least first), sum (the largest sum)")
	cli.Complete(cmd, "algorithm", algorithms()...)
	cli.Complete(cmd, "shares", shareWords...)
	return cmd
}

func (f *energyFlags) check() error {
	switch {
	case !slices.Contains(algorithms(), f.name):
		return cluster.BadField("--algorithm", f.name, "one of "+strings.Join(algorithms(), ", "))
	case !slices.Contains(shareWords, f.shares):
		return cluster.BadField("--shares", f.shares, "one of "+strings.Join(shareWords, ", "))
	case f.deadline < 0:
		return cluster.BadField("--deadline", f.deadline, "a time such as 1s, or 0 for none")
	case f.steps < 0:
		return cluster.BadField("--steps", f.steps, "a number from 0 on")
	case f.deadline == 0 && f.steps == 0:
		return cluster.BadField("--deadline", f.deadline, "a time: without it and without --steps a search may never end")
	}
	return nil
}

func energySolve(ctx context.Context, a *cli.App, f *energyFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	out, err := cli.Writable("--out", f.out, f.in)
	if err != nil {
		return err
	}
	instances, err := readInstances(a, f.in)
	if err != nil {
		return err
	}
	answers, err := answers(ctx, a, instances, f.method)
	if err != nil {
		return err
	}
	list := make([]format.Allocation, len(answers))
	allocated := 0
	for i, r := range answers {
		r.share(f.shares)
		list[i] = format.Allocation{ID: r.ID, Allocation: r.made, Why: strings.Join(r.why, "; ")}
		if r.made != nil {
			allocated++
		}
	}
	err = out.Write(func(w io.Writer) error { return format.WriteAllocations(w, "vjob "+program.Version(), list) })
	if err != nil {
		return err
	}
	if err := showAnswers(a, answers); err != nil {
		return err
	}
	if allocated == 0 {
		return &cli.ExitError{Code: cli.ExitNoPlan, Text: "no instance has an allocation"}
	}
	return nil
}

// answers solves instances one after another.
func answers(ctx context.Context, a *cli.App, instances []*format.Instance, m method) ([]*solution, error) {
	line := progressLine(a)
	defer line.end()
	list := make([]*solution, len(instances))
	for i, in := range instances {
		line.show(fmt.Sprintf("%s: %s (%d of %d)", m.name, in.ID, i+1, len(instances)))
		r, err := solveInstance(a, in, m, func() bool { return ctx.Err() != nil })
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("after %d of %d instances: %w", i, len(instances), ctx.Err())
		}
		list[i] = r
	}
	return list, nil
}

// share hands out what is left of a budget.
func (r *solution) share(how string) {
	if r.made == nil {
		return
	}
	spread := map[string]func([]int) (*energy.Allocation, bool){"fair": r.Fair, "sum": r.MaxSum}[how]
	if spread == nil {
		return
	}
	if more, ok := spread(r.made.At); ok {
		if measures, faults := r.Check(more); len(faults) == 0 {
			r.made, r.measures = more, measures
		}
	}
}

// solvedInstance is the JSON of one answer. What there is only with an allocation is null
// without one.
type solvedInstance struct {
	ID        string   `json:"id"`
	Problem   string   `json:"problem"`
	Algorithm string   `json:"algorithm"`
	Status    string   `json:"status"`
	Y         *float64 `json:"y"`
	Watts     *float64 `json:"e_watts"`
	Z         *float64 `json:"z"`
	Hosts     *int     `json:"hosts"`
	LP        *float64 `json:"lp_bound"`
	LBH       *float64 `json:"lbh"`
	Proved    bool     `json:"proved"`
	Elapsed   float64  `json:"elapsed_ms"`
	Why       []string `json:"why"`
}

func (r *solution) json() solvedInstance {
	j := solvedInstance{
		ID: r.ID, Problem: r.Objective.String(), Algorithm: r.algorithm, Status: "fail",
		Proved: r.proved, Elapsed: display.Milliseconds(r.elapsed), Why: cli.NonNil(r.why),
	}
	if r.feasible {
		j.LP, j.LBH = &r.lp, &r.lbh
	}
	if r.made == nil {
		return j
	}
	watts := float64(r.measures.Power)
	j.Status, j.Y, j.Watts, j.Hosts = "ok", &r.measures.Yield, &watts, &r.measures.Nodes
	if r.Objective == energy.Mixed {
		j.Z = &r.measures.Z
	}
	return j
}

func showAnswers(a *cli.App, list []*solution) error {
	rows := make([]solvedInstance, len(list))
	for i, r := range list {
		rows[i] = r.json()
	}
	body := struct {
		Instances []solvedInstance `json:"instances"`
	}{rows}
	return a.Show(body, func() *display.Table {
		t := &display.Table{Heads: display.Heads("INSTANCE STATUS >Y >WATTS >Z >HOSTS >LPBOUND >OVER_% >LBH_% >TIME NOTE")}
		for _, r := range list {
			t.Row(r.cells()...)
		}
		return t
	})
}

func (r *solution) cells() []string {
	lp := "-"
	if r.feasible {
		lp = significant(r.lp)
	}
	if r.made == nil {
		return []string{r.ID, "fail", "-", "-", "-", "-", lp, "-", "-", display.Exactly(r.elapsed), strings.Join(r.why, "; ")}
	}
	z, note := "-", ""
	if r.Objective == energy.Mixed {
		z = fmt.Sprintf("%.5f", r.measures.Z)
	}
	if r.proved {
		note = "the best (proved)"
	}
	return []string{
		r.ID, "ok", fmt.Sprintf("%.4f", r.measures.Yield), fmt.Sprintf("%.1f", float64(r.measures.Power)), z,
		strconv.Itoa(r.measures.Nodes), lp, hundredth(r.Objective.Gap(r.value, r.lp)), hundredth(r.Objective.Gap(r.value, r.lbh)),
		display.Exactly(r.elapsed), note,
	}
}

// significant prints watts and yields alike with as many digits as matter.
func significant(v float64) string {
	if v >= 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.5f", v)
}

// hundredth prints a fraction with two decimals, and no "-0.00".
func hundredth(v float64) string {
	if text := fmt.Sprintf("%.2f", 100*v); text != "-0.00" {
		return text
	}
	return "0.00"
}

// statusLine is a line on the standard error that is redrawn in place. Without a terminal it
// prints nothing.
type statusLine struct {
	out   io.Writer
	drawn bool
}

func progressLine(a *cli.App) *statusLine {
	if a.Width() > 0 {
		return &statusLine{out: a.Err}
	}
	return &statusLine{}
}

func (p *statusLine) show(text string) {
	if p.out != nil {
		_, _ = fmt.Fprintf(p.out, "\r%s\x1b[K", display.Clean(text))
		p.drawn = true
	}
}

func (p *statusLine) end() {
	if p.drawn {
		_, _ = io.WriteString(p.out, "\r\x1b[K")
	}
}
