package solve_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"vjob/energy"
	"vjob/energy/solve"
	"vjob/papers/allocation"
)

// tiny draws a problem of up to four nodes and six jobs: half of them as in the paper, half
// with every feature of a problem.
func tiny(rng *rand.Rand, seed uint64) *energy.Problem {
	hosts := 1 + rng.IntN(4)
	p := allocation.Sample(allocation.SampleOptions{
		Objective: energy.Objective(rng.IntN(3)), Nodes: hosts, Jobs: 1 + rng.IntN(6), Lambda: rng.Float64(), LightMemory: rng.IntN(2) == 0, Seed: seed,
	})
	p.Budget *= energy.Watts(0.2 + 0.8*rng.Float64()) // some are hard to keep, some cannot be kept
	if rng.IntN(2) == 0 {
		return p
	}
	p.Resources = append(p.Resources, "gpu")
	for n := range p.Nodes {
		node := &p.Nodes[n]
		node.CPU, node.Capacity = 0.4+rng.Float64(), []float64{0.5 + rng.Float64(), 2}
		node.Power.Standby = energy.Watts(10 * rng.Float64())
		if rng.IntN(4) == 0 {
			node.Power.Measured = []energy.Point{{Load: 0.4, Power: node.Power.Idle + (node.Power.Full-node.Power.Idle)*energy.Watts(rng.Float64())}}
		}
	}
	for j := range p.Jobs {
		p.Jobs[j].Need = append(p.Jobs[j].Need, float64(rng.IntN(2)))
	}
	if banned := rng.IntN(len(p.Nodes)); rng.IntN(3) == 0 {
		p.May = func(job, node int) bool { return job%2 == 0 || node != banned }
	}
	return p
}

// best tries every assignment.
func best(p *energy.Problem) (value float64, found bool) {
	at := make([]int, len(p.Jobs))
	var place func(j int)
	place = func(j int) {
		if j < len(at) {
			for n := range p.Nodes {
				at[j] = n
				place(j + 1)
			}
			return
		}
		a, ok := p.Equal(at)
		if !ok {
			return
		}
		m, faults := p.Check(a)
		if len(faults) > 0 {
			return
		}
		if v := p.Objective.Value(m); !found || p.Objective.Better(v, value) {
			value, found = v, true
		}
	}
	place(0)
	return value, found
}

// In tiny problems the search finds the best of all assignments, or none if the problem is
// infeasible, and what it calls proved is optimal.
func TestTinyProblemsAreSolved(t *testing.T) {
	const seed, problems = 21, 400
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	solved, proved := 0, 0
	for k := range uint64(problems) {
		p := tiny(rng, k)
		want, exists := best(p)
		r, err := solve.Solve(p, solve.Options{Seed: 1, Steps: 300})
		if err != nil {
			t.Fatal(err)
		}
		if (r.Allocation != nil) != exists {
			t.Errorf("%s %d: found %v, want %v; %q", p.ID, k, r.Allocation != nil, exists, r.Reasons)
			continue
		}
		if r.Proved {
			proved++
		}
		if !exists {
			continue
		}
		solved++
		if math.Abs(r.Value-want) > 1e-6*(1+want) {
			t.Errorf("%s %d: %.9f (proved %v), the best is %.9f", p.ID, k, r.Value, r.Proved, want)
		}
		if m, faults := p.Check(r.Allocation); len(faults) > 0 || m != r.Measures {
			t.Errorf("%s %d: %q", p.ID, k, faults)
		}
		if p.Objective.Better(want, r.Bound) && math.Abs(want-r.Bound) > 1e-4*(1+want) {
			t.Errorf("%s %d: bound %g, the best is %g", p.ID, k, r.Bound, want)
		}
	}
	t.Logf("%d of %d have a solution, %d are proved", solved, problems, proved)
	if solved < 200 || proved < 200 {
		t.Errorf("%d solved, %d proved", solved, proved)
	}
}

// The four hosts and twelve jobs of the paper's MILP are solved with proof.
func TestFourHostsAreProved(t *testing.T) {
	for _, o := range []energy.Objective{energy.BoundedYield, energy.BoundedPower, energy.Mixed} {
		for seed := range uint64(12) {
			p := allocation.Sample(allocation.SampleOptions{Objective: o, Nodes: 4, Jobs: 12, Lambda: []float64{0.2, 0.5, 0.8}[seed%3], Seed: seed})
			r, err := solve.Solve(p, solve.Options{Seed: 1, Steps: 20_000})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Proved && r.Allocation != nil {
				t.Errorf("%s: %g after %d steps is not proved", p.ID, r.Value, r.Steps)
			}
		}
	}
}

// The same seed and steps give the same allocation, and each one found improves on the last.
func TestSearchIsAFunctionOfItsArguments(t *testing.T) {
	for _, o := range []energy.Objective{energy.BoundedYield, energy.BoundedPower, energy.Mixed} {
		p := allocation.Sample(allocation.SampleOptions{Objective: o, Nodes: 16, Jobs: 40, Lambda: 0.5, Seed: 3})
		var found [2][]float64
		var made [2]*solve.Result
		for k := range made {
			r, err := solve.Solve(p, solve.Options{Seed: 9, Steps: 400, Found: func(v float64) { found[k] = append(found[k], v) }})
			if err != nil {
				t.Fatal(err)
			}
			made[k] = r
		}
		if !slices.Equal(found[0], found[1]) || !slices.Equal(made[0].Allocation.At, made[1].Allocation.At) || !slices.Equal(made[0].Allocation.CPU, made[1].Allocation.CPU) {
			t.Errorf("%s: two runs differ", p.ID)
		}
		for i := 1; i < len(found[0]); i++ {
			if !o.Better(found[0][i], found[0][i-1]) {
				t.Errorf("%s: %g after %g", p.ID, found[0][i], found[0][i-1])
			}
		}
		if made[0].Steps > 400 || o.Better(made[0].Value, made[0].Bound) {
			t.Errorf("%s: %+v", p.ID, made[0])
		}
	}
}

// A search that is stopped at once still returns an allocation if a greedy one is feasible.
func TestStop(t *testing.T) {
	for _, o := range []energy.Objective{energy.BoundedYield, energy.BoundedPower, energy.Mixed} {
		p := allocation.Sample(allocation.SampleOptions{Objective: o, Nodes: 50, Jobs: 50, Lambda: 0.5, Seed: 3})
		asked := 0
		r, err := solve.Solve(p, solve.Options{Stop: func() bool { asked++; return true }})
		if err != nil {
			t.Fatal(err)
		}
		if r.Allocation == nil || r.Steps > 0 || asked == 0 && !r.Proved {
			t.Errorf("%s: %+v, asked %d times", p.ID, r, asked)
		}
	}
}

func TestImpossible(t *testing.T) {
	p := allocation.Sample(allocation.SampleOptions{Objective: energy.BoundedYield, Nodes: 3, Jobs: 3, Seed: 1})
	p.Jobs[1].Need[0] = 1.5
	r, err := solve.Solve(p, solve.Options{Steps: 10})
	if err != nil || r.Allocation != nil || !r.Proved || len(r.Reasons) != 1 {
		t.Errorf("%+v %v", r, err)
	}
	p.Jobs[1].CPU = math.NaN()
	if _, err := solve.Solve(p, solve.Options{Steps: 10}); err == nil {
		t.Error("no error for NaN")
	}
}

func BenchmarkSteps(b *testing.B) {
	for _, hosts := range []int{64, 500} {
		for _, o := range []energy.Objective{energy.BoundedYield, energy.BoundedPower} {
			p := allocation.Sample(allocation.SampleOptions{Objective: o, Nodes: hosts, Jobs: 3 * hosts, Seed: 1000})
			b.Run(fmt.Sprintf("hosts=%d/%s", hosts, o), func(b *testing.B) {
				for b.Loop() {
					if _, err := solve.Solve(p, solve.Options{Seed: 1, Steps: 200}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// If nodes differ in size, which of them are on matters. Annealing alone ends 1.8 % from the
// bound of whole nodes here; trying sets of nodes reduces that to 1.4 %.
func TestUnlikeNodes(t *testing.T) {
	const problems, steps = 16, 800
	gap, solved := 0.0, 0
	for seed := range uint64(problems) {
		rng := rand.New(rand.NewPCG(seed, 5))
		p := allocation.Sample(allocation.SampleOptions{Objective: energy.Objective(seed % 2), Nodes: 14, Jobs: 30, Seed: seed})
		for n := range p.Nodes {
			node := &p.Nodes[n]
			node.CPU, node.Capacity[0] = []float64{0.5, 1, 2}[rng.IntN(3)], []float64{0.5, 1, 2}[rng.IntN(3)]
			node.Power.Idle *= energy.Watts(node.CPU)
			node.Power.Full *= energy.Watts(node.CPU)
		}
		r, err := solve.Solve(p, solve.Options{Seed: 1, Steps: steps})
		if err != nil {
			t.Fatal(err)
		}
		if r.Allocation != nil {
			solved++
			gap += p.Objective.Gap(r.Value, r.Bound)
		}
	}
	mean := 100 * gap / float64(max(solved, 1))
	t.Logf("%d of %d solved, %.3f %% over the bound", solved, problems, mean)
	if solved < 12 || mean > 1.6 {
		t.Errorf("%d of %d solved, %.3f %% over the bound", solved, problems, mean)
	}
}

// On a large cluster under a budget, a short search ends near the bound, since balance relieves
// the last nodes that are too full. Steps are counted and no clock is read, so the machine does
// not matter. A single seed ends between 2.3 and 3.0 %; the mean does not depend on how
// processors round, and is 3.2 % without balance.
func TestLargeClustersSoon(t *testing.T) {
	gap := 0.0
	const problems, seeds = 3, 4
	for seed := range uint64(problems * seeds) {
		p := allocation.Sample(allocation.SampleOptions{Objective: energy.BoundedPower, Nodes: 300, Jobs: 900, Seed: 100 + seed%problems})
		r, err := solve.Solve(p, solve.Options{Seed: seed / problems, Steps: 500})
		if err != nil || r.Allocation == nil {
			t.Fatalf("seed %d: none found: %v", seed, err)
		}
		gap += 100 * p.Objective.Gap(r.Value, r.Bound) / (problems * seeds)
	}
	t.Logf("%.2f %% below the bound", gap)
	if gap > 3 {
		t.Errorf("%.2f %% below the bound, want less than 3", gap)
	}
}
