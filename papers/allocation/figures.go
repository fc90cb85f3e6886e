package allocation

import (
	"fmt"

	"vjob/energy"
	"vjob/energy/solve"
	"vjob/papers/figure"
)

// draws is the number of instances of each combination of hosts and jobs, as in the paper.
const draws = 100

// command prints our values of all rows.
const command = "go run ./papers allocation"

// hosts are the numbers of hosts of the paper; there are once, twice and three times as many jobs.
var hosts = []int{4, 6, 8, 16, 32, 64}

// sum adds up values over instances.
type sum struct {
	value          float64
	nodes          int
	solved, failed int
}

func (s *sum) mean() float64 { return s.value / float64(max(1, s.solved)) }

// failures is the percentage of instances without an allocation.
func (s *sum) failures() float64 { return 100 * float64(s.failed) / float64(max(1, s.solved+s.failed)) }

// add adds the value of an allocation; nil is a failure.
func (s *sum) add(p *energy.Problem, a *energy.Allocation) {
	if a == nil {
		s.failed++
		return
	}
	m, _ := p.Check(a)
	s.value, s.nodes, s.solved = s.value+p.Objective.Value(m), s.nodes+m.Nodes, s.solved+1
}

// results are the results on a set of instances, by algorithm.
type results struct {
	lp   sum // LPBOUND
	best sum // our search; the optimum on four hosts
	of   map[string]*sum
}

func newResults() *results { return &results{of: map[string]*sum{}} }

// run solves an instance with the named algorithms, and with our search if steps is positive.
func (r *results) run(p *energy.Problem, steps int, names ...string) error {
	if value, ok := solve.LPBound(p); ok {
		r.lp.value, r.lp.solved = r.lp.value+value, r.lp.solved+1
	}
	for _, name := range names {
		if r.of[name] == nil {
			r.of[name] = &sum{}
		}
		r.of[name].add(p, named(name)(p))
	}
	if steps == 0 {
		return nil
	}
	found, err := solve.Solve(p, solve.Options{Seed: 1, Steps: steps})
	if err != nil {
		return err
	}
	r.best.add(p, found.Allocation)
	return nil
}

// over is how much more an algorithm draws than LPBOUND, in per cent of the means. Like the paper
// it compares means over the instances that each has solved.
func (r *results) over(name string) float64 { return 100 * (r.of[name].mean()/r.lp.mean() - 1) }

// Figures compares the algorithms with the paper's section 4.
func Figures() ([]figure.Row, error) {
	var rows []figure.Row
	for _, part := range []func() ([]figure.Row, error){boundedYield, boundedPower, mixed} {
		list, err := part()
		if err != nil {
			return nil, err
		}
		rows = append(rows, list...)
	}
	return append(rows, figure.Row{
		Where: "Figures 4, 13, 19", What: "execution time for 64 hosts and 192 jobs", Published: "0.001 to 20 s",
		Command: "times differ from run to run: docs/BENCHMARKS.md",
	}), nil
}

// boundedYield reproduces §4.2.
func boundedYield() ([]figure.Row, error) {
	names := []string{"ea-resalloc-yield", "greedy-yield-1", "greedy-yield-2", "greedy-yield-3", "greedy-yield-4"}
	all, large, small := newResults(), newResults(), newResults()
	for _, h := range hosts {
		for ratio := 1; ratio <= 3; ratio++ {
			for seed := range uint64(draws) {
				p := Sample(SampleOptions{Objective: energy.BoundedYield, Nodes: h, Jobs: h * ratio, Seed: seed})
				sets := []*results{all}
				switch {
				case h == 64:
					sets = append(sets, large)
				case h == 4 && ratio == 1:
					sets = append(sets, small)
				}
				for _, r := range sets {
					if err := r.run(p, 0, names...); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	row := func(where, what, published, ours string) figure.Row {
		return figure.Row{Where: where, What: "BOUNDEDYIELD, " + what, Published: published, Ours: ours, Command: command}
	}
	rows := []figure.Row{row("Table 2", "mean power, LPBOUND", "1908 W", fmt.Sprintf("%.0f W", all.lp.mean()))}
	published := []string{"2090 W, +9.5 %", "2199 W, +15.2 %", "2145 W, +12.4 %", "2203 W, +15.4 %", "2143 W, +12.3 %"}
	for i, name := range names {
		rows = append(rows, row("Table 2", "mean power over LPBOUND, "+name, published[i], fmt.Sprintf("%.0f W, %+.1f %%", all.of[name].mean(), all.over(name))))
	}
	ea, first, best := names[0], names[1], names[4]
	return append(rows,
		row("Figure 2", "hosts used of 4, for 4 jobs, "+ea, "about 1.6", fmt.Sprintf("%.1f", float64(small.of[ea].nodes)/float64(small.of[ea].solved))),
		row("Figure 3", "64 hosts, "+ea, "5900 W, about +6 %", fmt.Sprintf("%.0f W, %+.1f %%", large.of[ea].mean(), large.over(ea))),
		row("Figure 3", "64 hosts, "+best, "+10 %", fmt.Sprintf("%+.1f %%", large.over(best))),
		row("Figure 5", "failures, "+ea, "about 3 %", fmt.Sprintf("%.1f %%", all.of[ea].failures())),
		row("Figure 5", "failures, "+first, "12 %", fmt.Sprintf("%.1f %%", all.of[first].failures())),
		row("Figure 5", "failures, "+best, "8 %", fmt.Sprintf("%.1f %%", all.of[best].failures())),
	), nil
}

// Sizes of samples where the algorithms or our search take longer.
const (
	fewDraws     = 20
	optimalSteps = 400
)

// boundedPower reproduces §4.3.
func boundedPower() ([]figure.Row, error) {
	greedy := []string{"greedy-power-1-kept", "greedy-power-2-kept", "greedy-power-3-kept", "greedy-power-4-kept"}
	const ea = "ea-resalloc-power"
	row := func(where, what, published, ours string) figure.Row {
		return figure.Row{Where: where, What: "BOUNDEDPOWER, " + what, Published: published, Ours: ours, Command: command}
	}
	var rows []figure.Row
	for _, c := range []struct {
		where     string
		jobs      int
		published string
	}{{"Figure 7", 4, "up to 20 % below the optimum"}, {"Figure 8", 12, "up to 40 % below the optimum"}} {
		r := newResults()
		for seed := range uint64(draws) {
			p := Sample(SampleOptions{Objective: energy.BoundedPower, Nodes: 4, Jobs: c.jobs, Seed: seed})
			if err := r.run(p, optimalSteps, greedy...); err != nil {
				return nil, err
			}
		}
		worst := 0.0
		for _, name := range greedy {
			worst = max(worst, 100*(1-r.of[name].value/r.best.value))
		}
		rows = append(rows, row(c.where, fmt.Sprintf("mean yield of the greedy algorithms (0 if they fail), 4 hosts, %d jobs", c.jobs),
			c.published, fmt.Sprintf("up to %.0f %% below the optimum", worst)))
	}
	all, middle := newResults(), newResults()
	for _, h := range hosts {
		for ratio := 1; ratio <= 3; ratio++ {
			for seed := range uint64(fewDraws) {
				p := Sample(SampleOptions{Objective: energy.BoundedPower, Nodes: h, Jobs: h * ratio, Seed: seed})
				if err := all.run(p, 0, ea); err != nil {
					return nil, err
				}
				if h == 64 && ratio == 2 {
					if err := middle.run(p, 0, ea, greedy[0]); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	used := func(name string) float64 { return float64(middle.of[name].nodes) / float64(middle.of[name].solved) }
	return append(rows,
		row("Figure 9", "hosts used of 64, for 128 jobs, "+ea+" and "+greedy[0], "more and fewer", fmt.Sprintf("%.1f and %.1f", used(ea), used(greedy[0]))),
		row("Figure 11", "failures, "+ea, "about 13 %", fmt.Sprintf("%.1f %%", all.of[ea].failures())),
	), nil
}

// mixed reproduces §4.4, where the paper prints no numbers, with the paper's own use of lambda.
func mixed() ([]figure.Row, error) {
	names := []string{"ea-resalloc-mixed-lambda", "greedy-mixed-1-lambda"}
	var rows []figure.Row
	for i, lambda := range []float64{0.2, 0.5, 0.8} {
		ours := make([]string, len(names))
		for k, name := range names {
			yield, power, solved, all := 0.0, 0.0, 0, 0
			for _, h := range hosts {
				for seed := range uint64(fewDraws) {
					p := Sample(SampleOptions{Objective: energy.Mixed, Nodes: h, Jobs: 2 * h, Lambda: lambda, Seed: seed})
					all++
					if found := named(name)(p); found != nil {
						m, _ := p.Check(found)
						yield, power, solved = yield+m.Yield, power+float64(m.Power), solved+1
					}
				}
			}
			ours[k] = fmt.Sprintf("none of %d solved", all)
			if solved > 0 {
				ours[k] = fmt.Sprintf("%.2f, %.0f W (%d of %d solved)", yield/float64(solved), power/float64(solved), solved, all)
			}
		}
		rows = append(rows, figure.Row{
			Where: fmt.Sprintf("Figure %d", 14+i), What: fmt.Sprintf("MIXEDOBJECTIVE, lambda %.1f, mean yield and power, %s against %s", lambda, names[0], names[1]),
			Published: "more yield, more power", Ours: ours[0] + " against " + ours[1], Command: command,
		})
	}
	return rows, nil
}

// named returns the algorithm with a name.
func named(name string) Algorithm {
	for _, a := range All() {
		if a.Name == name {
			return a.Algorithm
		}
	}
	panic("no algorithm " + name)
}
