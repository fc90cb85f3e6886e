package consolidation

import (
	"fmt"

	"vjob/papers/figure"
)

// Comparison compares our results on a set of configurations with First Fit Decreasing (FFD).
type Comparison struct {
	Configurations int
	ProvedNodes    int // configurations with a proved number of nodes
	ProvedCost     int // configurations with a proved cost on this number of nodes
	Fewer          int // configurations with fewer nodes than FFD
	MostFewer      int // the largest difference of nodes
	Cheaper        int // configurations with a lower cost than the packing of [Fewest] itself
	MostCheaper    float64
	Same           int     // configurations with as many nodes as FFD
	LeastSaved     float64 // of these, the least saving of cost against FFD, in per cent
}

// Compare solves both problems for configurations with the seeds from 0 on.
func Compare(o SampleOptions, configurations int) Comparison {
	c := Comparison{Configurations: configurations}
	for seed := range uint64(configurations) {
		o.Seed = seed
		p, options := Sample(o), SearchOptions{Seed: seed}
		fewest := Fewest(p, options)
		cheapest := Cheapest(p, fewest.Used, options, fewest.At)
		if fewest.Proved {
			c.ProvedNodes++
		}
		if cheapest.Proved {
			c.ProvedCost++
		}
		if first := costOf(p, fewest.At); first > cheapest.Cost {
			c.Cheaper++
			c.MostCheaper = max(c.MostCheaper, saved(cheapest.Cost, first))
		}
		at := FirstFit(p, 1)
		switch used := nodesOf(at); {
		case at == nil:
		case used > fewest.Used:
			c.Fewer++
			c.MostFewer = max(c.MostFewer, used-fewest.Used)
		default:
			s := saved(cheapest.Cost, costOf(p, at))
			if c.Same == 0 || s < c.LeastSaved {
				c.LeastSaved = s
			}
			c.Same++
		}
	}
	return c
}

// saved returns by how many per cent a cost is below another.
func saved(cost, other int64) float64 { return 100 * (1 - float64(cost)/float64(other)) }

func costOf(p *Problem, at []int) (sum int64) {
	for i, n := range at {
		sum += p.Cost(i, n)
	}
	return sum
}

func nodesOf(at []int) int {
	used := map[int]bool{}
	for _, n := range at {
		used[n] = true
	}
	return len(used)
}

// configurations is the number of configurations of each set, as in the paper.
const configurations = 100

// Figures compares our results with section 5.
func Figures() ([]figure.Row, error) {
	memory := []int64{1024, 2048}
	small := Compare(SampleOptions{Nodes: 64, VMs: 64, CPU: 1, Memory: memory}, configurations)
	large := Compare(SampleOptions{Nodes: 128, VMs: 128, CPU: 1, Memory: memory}, configurations)
	row := func(where, what, published, ours string) figure.Row {
		return figure.Row{Where: where, What: what, Published: published, Ours: ours, Command: "go run ./papers consolidation"}
	}
	percent := func(n, of int) string { return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(of)) }
	both := func(n func(c *Comparison) int) string {
		return percent(n(&small)+n(&large), small.Configurations+large.Configurations)
	}
	none := func(where, what, published, why string) figure.Row {
		return figure.Row{Where: where, What: what, Published: published, Command: why}
	}
	const testbed = "needs the cluster and the task graphs of the experiment"
	return []figure.Row{
		row("Figure 10(a)", "VMPP, 64 and 128 VMs: fewest nodes found", "90 % in 5 s",
			fmt.Sprintf("%s and %s proved optimal", percent(small.ProvedNodes, configurations), percent(large.ProvedNodes, configurations))),
		row("Figure 10(b)", "VMPP: configurations with fewer nodes than FFD", "47 %, by up to 5",
			fmt.Sprintf("%s, by up to %d", both(func(c *Comparison) int { return c.Fewer }), max(small.MostFewer, large.MostFewer))),
		row("Figure 11(a)", "VMRP, 64 and 128 VMs: cheapest packing found", "90 % in 10 and 20 s, none proved",
			fmt.Sprintf("%s and %s proved optimal", percent(small.ProvedCost, configurations), percent(large.ProvedCost, configurations))),
		row("Figure 11(b)", "VMRP: configurations with a lower cost than the VMPP solution", "93 %, by up to 40 %",
			fmt.Sprintf("%s, by up to %.0f %%", both(func(c *Comparison) int { return c.Cheaper }), max(small.MostCheaper, large.MostCheaper))),
		none("Figures 8, 9", "duration and overhead of a migration", "6 to 26 s", "measured on the authors' nodes; the simulated profile `thesis` takes 12 s for each GiB"),
		none("Figures 13, 14", "duration of a reconfiguration, FFD and Entropy", "413 s, 107 s", testbed),
	}, nil
}
