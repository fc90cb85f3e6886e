package energy_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy"
)

// random draws a small problem of any kind: nodes that differ, measured curves, standby
// power, two resources.
func random(rng *rand.Rand, curves bool) *energy.Problem {
	p := &energy.Problem{
		ID: "random", Objective: energy.Objective(rng.IntN(3)), Resources: []string{"mem", "gpu"},
		Floor: 0.01 + 0.6*rng.Float64(), Budget: energy.Watts(100 + 600*rng.Float64()), Lambda: rng.Float64(), EMax: energy.Watts(100 + 400*rng.Float64()),
	}
	for range 1 + rng.IntN(4) {
		idle := 50 + 100*rng.Float64()
		n := energy.Node{CPU: 0.5 + rng.Float64(), Capacity: []float64{0.5 + rng.Float64(), 2}, Power: energy.Power{Idle: energy.Watts(idle), Full: energy.Watts(idle + 100*rng.Float64())}}
		n.Power.Standby = n.Power.Idle * 0.05
		if curves && rng.IntN(2) == 0 {
			n.Power.Measured = []energy.Point{{Load: 0.3, Power: n.Power.Idle + (n.Power.Full-n.Power.Idle)*energy.Watts(rng.Float64())}}
		}
		p.Nodes = append(p.Nodes, n)
	}
	for range 1 + rng.IntN(5) {
		p.Jobs = append(p.Jobs, energy.Job{CPU: 0.05 + 0.8*rng.Float64(), Need: []float64{0.4 * rng.Float64(), float64(rng.IntN(2))}})
	}
	return p
}

func scatter(rng *rand.Rand, p *energy.Problem) []int {
	at := make([]int, len(p.Jobs))
	for j := range at {
		at[j] = rng.IntN(len(p.Nodes))
	}
	return at
}

func TestPower(t *testing.T) {
	linear := energy.Power{Idle: 100, Full: 200}
	curve := energy.Power{Idle: 100, Full: 200, Measured: []energy.Point{{0.25, 160}, {0.5, 170}}}
	for _, tt := range []struct {
		p    energy.Power
		load float64
		want energy.Watts
	}{
		{linear, 0, 100},
		{linear, 0.5, 150},
		{linear, 1, 200},
		{linear, 2, 200},
		{linear, -1, 100},
		{curve, 0.125, 130},
		{curve, 0.25, 160},
		{curve, 0.375, 165},
		{curve, 0.75, 185},
	} {
		if got := tt.p.At(tt.load); math.Abs(float64(got-tt.want)) > 1e-9 {
			t.Errorf("%v at %g: %g, want %g", tt.p, tt.load, got, tt.want)
		}
	}
	if got := linear.Share(0.1, 0.4, 1, 2) + linear.Share(0.3, 0.4, 1, 2); math.Abs(float64(got-linear.At(0.4))) > 1e-9 {
		t.Errorf("the shares of two jobs are %g, the node draws %g", got, linear.At(0.4))
	}
	if got := linear.Share(0, 0, 1, 4); got != 25 {
		t.Errorf("one of four jobs that get nothing is due %g", got)
	}
	if got := energy.Watts(1000).Over(time.Hour).KWh(); got != 1 {
		t.Errorf("a kilowatt for an hour is %g kWh", got)
	}
}

// naive measures an allocation with no code of the package, as an independent checker does.
func naive(p *energy.Problem, a *energy.Allocation) (y, e, z float64, ok bool) {
	y, ok = math.Inf(1), true
	for n, node := range p.Nodes {
		cpu, jobs, used := 0.0, 0, make([]float64, len(p.Resources))
		for j, at := range a.At {
			if at != n {
				continue
			}
			jobs++
			cpu += a.CPU[j]
			for r := range used {
				used[r] += p.Jobs[j].Need[r]
			}
			y = min(y, a.CPU[j]/p.Jobs[j].CPU)
			ok = ok && a.CPU[j] >= -1e-6 && a.CPU[j] <= p.Jobs[j].CPU+1e-6
		}
		ok = ok && cpu <= node.CPU+1e-6
		for r := range used {
			ok = ok && used[r] <= node.Capacity[r]+1e-6
		}
		if jobs == 0 {
			e += float64(node.Power.Standby)
			continue
		}
		corners := append(append([]energy.Point{{0, node.Power.Idle}}, node.Power.Measured...), energy.Point{1, node.Power.Full})
		load := min(1, cpu/node.CPU)
		for k := 1; k < len(corners); k++ {
			if a, b := corners[k-1], corners[k]; load <= b.Load {
				e += float64(a.Power) + float64(b.Power-a.Power)*(load-a.Load)/(b.Load-a.Load)
				break
			}
		}
	}
	z = p.Lambda*y + (1-p.Lambda)*(1-min(1, e/float64(p.EMax)))
	ok = ok && y > 0 && y >= p.Floor-1e-6 && (p.Objective != energy.BoundedPower || e <= float64(p.Budget)+1e-3)
	return y, e, z, ok
}

func TestCheckAgreesWithNaive(t *testing.T) {
	const seed = 3
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	right, wrong := 0, 0
	for range 20_000 {
		p := random(rng, true)
		a := &energy.Allocation{At: scatter(rng, p), CPU: make([]float64, len(p.Jobs))}
		yield := 1.1 * rng.Float64()
		for j := range a.CPU {
			a.CPU[j] = yield * p.Jobs[j].CPU
		}
		m, faults := p.Check(a)
		y, e, z, ok := naive(p, a)
		if ok != (len(faults) == 0) || math.Abs(y-m.Yield) > 1e-9 || math.Abs(e-float64(m.Power)) > 1e-6 || p.Objective == energy.Mixed && math.Abs(z-m.Z) > 1e-9 {
			t.Fatalf("%+v\n%+v\n%+v %q\nthe other: %g %g %g %v", p, a, m, faults, y, e, z, ok)
		}
		if ok {
			right++
		} else {
			wrong++
		}
	}
	if right < 1000 || wrong < 1000 {
		t.Errorf("%d right and %d wrong allocations prove little", right, wrong)
	}
}

// No yield of a fine grid is better than that of Equal.
func TestEqualIsTheBestYield(t *testing.T) {
	const seed = 5
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	found := 0
	for range 3000 {
		p := random(rng, true)
		for n := range p.Nodes {
			p.Nodes[n].Capacity = []float64{9, 9}
		}
		at := scatter(rng, p)
		best, ok := p.Equal(at)
		value := 0.0
		if ok {
			found++
			m, faults := p.Check(best)
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			value = p.Objective.Value(m)
		}
		for k := range 400 {
			yield := float64(k+1) / 400
			a := &energy.Allocation{At: at, CPU: make([]float64, len(at))}
			for j := range at {
				a.CPU[j] = yield * p.Jobs[j].CPU
			}
			if _, e, _, ok2 := naive(p, a); ok2 {
				m, _ := p.Check(a)
				margin := 1e-5
				if p.Objective == energy.BoundedYield {
					margin = 1e-3 // the floor may be missed by a hair
				}
				if v := p.Objective.Value(m); !ok || p.Objective.Better(v, value) && math.Abs(v-value) > margin {
					t.Fatalf("%v: yield %g has %g (%g W), Equal has %g, %v", p.Objective, yield, v, e, value, ok)
				}
			}
		}
	}
	if found < 500 {
		t.Errorf("only %d were feasible", found)
	}
}

// Fair and Generous keep the least yield, and no small change improves on what each maximises.
func TestSharesUnderABudget(t *testing.T) {
	const seed = 7
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	sum := func(p *energy.Problem, a *energy.Allocation) (s float64) {
		for j := range a.CPU {
			s += a.CPU[j] / p.Jobs[j].CPU
		}
		return s
	}
	fairer := 0
	for range 2000 {
		p := random(rng, false)
		p.Objective, p.Floor = energy.BoundedPower, 0
		for n := range p.Nodes {
			p.Nodes[n].Capacity = []float64{9, 9}
		}
		at := scatter(rng, p)
		equal, ok := p.Equal(at)
		if !ok {
			continue
		}
		fair, _ := p.Fair(at)
		generous, _ := p.MaxSum(at)
		m, _ := p.Check(equal)
		for _, a := range []*energy.Allocation{fair, generous} {
			if more, faults := p.Check(a); len(faults) > 0 || more.Yield < m.Yield-1e-6 {
				t.Fatal(faults, more, m)
			}
		}
		if sum(p, generous) < sum(p, fair)-1e-6 {
			t.Fatalf("the largest sum %g is less than the fair one %g", sum(p, generous), sum(p, fair))
		}
		if sum(p, fair) > sum(p, equal)+1e-6 {
			fairer++
		}
		for range 30 { // give to one what another on any node has
			i, k := rng.IntN(len(at)), rng.IntN(len(at))
			for _, kind := range []string{"fair", "sum"} {
				a := map[string]*energy.Allocation{"fair": fair, "sum": generous}[kind]
				b := &energy.Allocation{At: at, CPU: slices.Clone(a.CPU)}
				const bit = 0.02
				b.CPU[i] += bit * rng.Float64()
				b.CPU[k] -= bit * rng.Float64()
				x, faults := p.Check(b)
				if len(faults) > 0 || x.Yield < m.Yield || x.Power > p.Budget {
					continue
				}
				if kind == "sum" && sum(p, b) > sum(p, a)+1e-3 {
					t.Fatalf("a larger sum: %g, not %g", sum(p, b), sum(p, a))
				}
				before, after := a.CPU[i]/p.Jobs[i].CPU, b.CPU[k]/p.Jobs[k].CPU
				if kind == "fair" && b.CPU[i] > a.CPU[i]+1e-3 && after > before+1e-2 {
					t.Fatalf("job %d at %g could have more, from %d that keeps %g", i, before, k, after)
				}
			}
		}
	}
	if fairer < 200 {
		t.Errorf("only %d times was there CPU left to distribute", fairer)
	}
}

func TestBadProblems(t *testing.T) {
	good := func() *energy.Problem {
		return &energy.Problem{
			Resources: []string{"mem"}, Floor: 0.5, Budget: 100, EMax: 100,
			Nodes: []energy.Node{{CPU: 1, Capacity: []float64{1}, Power: energy.Power{Idle: 100, Full: 200}}},
			Jobs:  []energy.Job{{CPU: 1, Need: []float64{0.5}}},
		}
	}
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(p *energy.Problem){
		"hosts":                   func(p *energy.Problem) { p.Nodes = nil },
		"jobs":                    func(p *energy.Problem) { p.Jobs = nil },
		"hosts[0].cpu":            func(p *energy.Problem) { p.Nodes[0].CPU = math.NaN() },
		"hosts[0]: idle power":    func(p *energy.Problem) { p.Nodes[0].Power.Idle = 201 },
		"hosts[0]: full power":    func(p *energy.Problem) { p.Nodes[0].Power.Full = energy.Watts(math.Inf(1)) },
		"hosts[0]: standby power": func(p *energy.Problem) { p.Nodes[0].Power.Standby = 101 },
		"hosts[0]: measured load": func(p *energy.Problem) { p.Nodes[0].Power.Measured = []energy.Point{{1, 150}} },
		"measured power":          func(p *energy.Problem) { p.Nodes[0].Power.Measured = []energy.Point{{0.5, 99}} },
		"hosts[0].mem":            func(p *energy.Problem) { p.Nodes[0].Capacity[0] = -1 },
		"jobs[0].cpu":             func(p *energy.Problem) { p.Jobs[0].CPU = 0 },
		"jobs[0]: 2":              func(p *energy.Problem) { p.Jobs[0].Need = []float64{1, 2} },
		"the least yield: 1.5":    func(p *energy.Problem) { p.Floor = 1.5 },
		"the least yield: 0":      func(p *energy.Problem) { p.Floor = 0 },
		"the power budget: NaN":   func(p *energy.Problem) { p.Objective, p.Budget = energy.BoundedPower, energy.Watts(math.NaN()) },
		"lambda: 2":               func(p *energy.Problem) { p.Objective, p.Lambda = energy.Mixed, 2 },
		"emax: 0":                 func(p *energy.Problem) { p.Objective, p.EMax = energy.Mixed, 0 },
	} {
		p := good()
		spoil(p)
		if err := p.Validate(); !errors.Is(err, cluster.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	p := good()
	p.Jobs[0].Need[0] = 1.25
	if why := p.Unplaceable(); len(why) != 1 || !strings.Contains(why[0], "0.25 too little") {
		t.Error(why)
	}
	p.Jobs[0] = energy.Job{CPU: 3, Need: []float64{0}}
	if why := p.Unplaceable(); len(why) != 1 || !strings.Contains(why[0], "0.5 too little") {
		t.Error(why)
	}
}
