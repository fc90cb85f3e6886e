package energy

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/cmd/vjob/energy/format"
	"vjob/energy"
	"vjob/internal/chart"
	"vjob/papers/allocation"
)

// compareFlags are the flags of `vjob energy compare`.
type compareFlags struct {
	in, svg string
	method
}

func energyCompareCommand(a *cli.App) *cobra.Command {
	f := compareFlags{method: method{name: ours}}
	cmd := &cobra.Command{
		Use:   "compare --in FOLDER|FILE [--svg PICTURE]",
		Short: "run all algorithms over instances, side by side",
		Long: `Runs our own method and all algorithms of the paper on each instance and prints, for each
problem, what the tables of the paper have: mean and standard deviation, how much worse than
LPBOUND on the average, failures, time; and how much worse than the stronger bound with whole
hosts, and than the best value that the files know. Means are over the instances that an algorithm
has solved, so look at the failures too.

Exit codes: 0 it ran, 2 a file or flag is wrong.`,
		Example: "  vjob energy compare --in instances/ --deadline 100ms --svg yield-power.svg",
		Args:    cli.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return energyCompare(cmd.Context(), a, &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.in, "in", "", "the instances: a `FILE`, a folder, or - for the standard input")
	flags.StringVar(&f.svg, "svg", "", "draw yield against power into this `FILE`")
	flags.DurationVar(&f.deadline, "deadline", 100*time.Millisecond, "`TIME` that our own method has for each instance")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of all random choices")
	flags.IntVar(&f.steps, "steps", 0, "`NUMBER` of steps of our own search; 0 is no limit")
	return cmd
}

func energyCompare(ctx context.Context, a *cli.App, f *compareFlags) error {
	if f.deadline <= 0 {
		return cluster.BadField("--deadline", f.deadline, "a time such as 100ms")
	}
	if f.steps < 0 {
		return cluster.BadField("--steps", f.steps, "a number from 0 on")
	}
	svg, err := cli.Writable("--svg", f.svg, f.in)
	if err != nil {
		return err
	}
	instances, err := readInstances(a, f.in)
	if err != nil {
		return err
	}
	var groups []*contest
	for _, objective := range []energy.Objective{energy.BoundedYield, energy.BoundedPower, energy.Mixed} {
		more, err := contests(ctx, a, objective, instances, f.method)
		if err != nil {
			return err
		}
		groups = append(groups, more...)
	}
	if err := svg.Write(func(w io.Writer) error { return chart.WriteScatter(w, yieldPower(groups)) }); err != nil {
		return err
	}
	return showContests(a, groups)
}

// contests runs all algorithms for an objective on the instances that have it.
func contests(ctx context.Context, a *cli.App, o energy.Objective, all []*format.Instance, m method) (list []*contest, err error) {
	var instances []*format.Instance
	for _, in := range all {
		if in.Objective == o {
			instances = append(instances, in)
		}
	}
	if len(instances) == 0 {
		return nil, nil
	}
	names := []string{ours}
	for _, h := range allocation.All() {
		if h.For == o {
			names = append(names, h.Name)
		}
	}
	for _, name := range names {
		m.name = name
		answers, err := answers(ctx, a, instances, m)
		if err != nil {
			return nil, err
		}
		list = append(list, newContest(o, name, answers))
	}
	return list, nil
}

// contest is what one algorithm came to on all instances of a problem.
type contest struct {
	Problem   string   `json:"problem"`
	Algorithm string   `json:"algorithm"`
	Instances int      `json:"instances"`
	Failed    int      `json:"failed"`
	Beatable  int      `json:"failed_where_a_solution_is_known"`
	Mean      *float64 `json:"mean"`
	Deviation *float64 `json:"standard_deviation"`
	OverLP    *float64 `json:"over_lp_percent"`
	OverLBH   *float64 `json:"over_lbh_percent"`
	OverBest  *float64 `json:"over_best_known_percent"`
	Hosts     *float64 `json:"hosts"`
	Elapsed   float64  `json:"mean_elapsed_ms"`
	points    [][2]float64
}

func newContest(o energy.Objective, name string, answers []*solution) *contest {
	c := &contest{Problem: o.String(), Algorithm: name, Instances: len(answers)}
	var values, lp, lbh, best, hosts []float64
	for _, r := range answers {
		c.Elapsed += display.Milliseconds(r.elapsed) / float64(len(answers))
		known := r.Reference != nil && r.Reference.Best != nil && r.Reference.Best.Value != nil
		if r.made == nil {
			c.Failed++
			if known {
				c.Beatable++
			}
			continue
		}
		values, hosts = append(values, r.value), append(hosts, float64(r.measures.Nodes))
		lp, lbh = append(lp, 100*o.Gap(r.value, r.lp)), append(lbh, 100*o.Gap(r.value, r.lbh))
		if known {
			best = append(best, 100*o.Gap(r.value, *r.Reference.Best.Value))
		}
		c.points = append(c.points, [2]float64{float64(r.measures.Power), r.measures.Yield})
	}
	c.Mean, c.Deviation = moments(values)
	c.OverLP, _ = moments(lp)
	c.OverLBH, _ = moments(lbh)
	c.OverBest, _ = moments(best)
	c.Hosts, _ = moments(hosts)
	return c
}

// moments are mean and standard deviation; nil of nothing.
func moments(list []float64) (mean, deviation *float64) {
	if len(list) == 0 {
		return nil, nil
	}
	m, squares := 0.0, 0.0
	for _, v := range list {
		m += v / float64(len(list))
	}
	for _, v := range list {
		squares += (v - m) * (v - m) / float64(len(list))
	}
	d := math.Sqrt(squares)
	return &m, &d
}

func showContests(a *cli.App, list []*contest) error {
	body := struct {
		Algorithms []*contest `json:"algorithms"`
	}{list}
	return a.Show(body, func() *display.Table {
		t := &display.Table{Heads: display.Heads("PROBLEM ALGORITHM >N >FAILED >MEAN >SD >OVER_LPBOUND_% >OVER_LBH_% >OVER_BEST_% >HOSTS >TIME_MS")}
		number := func(v *float64, digits int) string {
			if v == nil {
				return "-"
			}
			return strconv.FormatFloat(*v+0, 'f', digits, 64)
		}
		for _, c := range list {
			digits := 4
			if c.Problem == energy.BoundedYield.String() {
				digits = 1
			}
			t.Row(c.Problem, c.Algorithm, strconv.Itoa(c.Instances), strconv.Itoa(c.Failed), number(c.Mean, digits), number(c.Deviation, digits),
				number(c.OverLP, 2), number(c.OverLBH, 2), number(c.OverBest, 2), number(c.Hosts, 1), fmt.Sprintf("%.2f", c.Elapsed))
		}
		return t
	})
}

// yieldPower is figures 14 to 16 of the paper: each allocation as a point.
func yieldPower(list []*contest) *chart.Scatter {
	s := &chart.Scatter{Title: "Yield against power", X: "power (W)", Y: "least yield", Subtitle: "each allocation is a point, the mean of an algorithm a large one"}
	problems := map[string]bool{}
	for _, c := range list {
		problems[c.Problem] = true
	}
	for _, c := range list {
		name := c.Algorithm
		if len(problems) > 1 && name == ours {
			name += ", " + c.Problem
		}
		s.Groups = append(s.Groups, chart.Group{Name: name, Points: c.points})
	}
	return s
}
