package solve_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"vjob/energy"
	"vjob/energy/solve"
	"vjob/papers/allocation"
)

// relaxed is the paper's program with all that it has of jobs and hosts, rational: e_ih,
// the shares and p_h (eq. 4 to 13).
func relaxed(p *energy.Problem) *simplex {
	h, j := len(p.Nodes), len(p.Jobs)
	place := func(i, n int) int { return i*h + n }
	share := func(i, n int) int { return j*h + i*h + n }
	on := func(n int) int { return 2*j*h + n }
	s := &simplex{cost: make([]float64, 2*j*h+h+1)}
	yield := 2*j*h + h
	for n := range h {
		node := &p.Nodes[n]
		slope := float64(node.Power.Full-node.Power.Idle) / node.CPU
		s.cost[on(n)] = float64(node.Power.Idle - node.Power.Standby)
		s.row('<', 1, map[int]float64{on(n): 1})
		cpu, rigid := map[int]float64{on(n): -node.CPU}, make([]map[int]float64, len(node.Capacity))
		for r := range rigid {
			rigid[r] = map[int]float64{on(n): -node.Capacity[r]}
		}
		for i := range j {
			s.cost[share(i, n)] = slope
			cpu[share(i, n)] = 1
			for r := range rigid {
				rigid[r][place(i, n)] = p.Jobs[i].Need[r]
			}
			s.row('<', 0, map[int]float64{share(i, n): 1, place(i, n): -node.CPU})
		}
		s.row('<', 0, cpu)
		for r := range rigid {
			s.row('<', 0, rigid[r])
		}
	}
	for i := range j {
		places, shares := map[int]float64{}, map[int]float64{yield: -p.Jobs[i].CPU}
		for n := range h {
			places[place(i, n)], shares[share(i, n)] = 1, 1
		}
		s.row('=', 1, places)
		s.row('=', 0, shares)
	}
	s.row('<', 1, map[int]float64{yield: 1})
	return s
}

func standby(p *energy.Problem) (sum float64) {
	for n := range p.Nodes {
		sum += float64(p.Nodes[n].Power.Standby)
	}
	return sum
}

// lp is LPBOUND by the simplex.
func lp(p *energy.Problem) (float64, bool) {
	s, yield := relaxed(p), 2*len(p.Jobs)*len(p.Nodes)+len(p.Nodes)
	s.row('>', p.Floor, map[int]float64{yield: 1})
	switch p.Objective {
	case energy.BoundedYield:
		e, ok := s.minimum()
		return e + standby(p), ok
	case energy.BoundedPower:
		budget := map[int]float64{}
		for k, v := range s.cost {
			budget[k] = v
		}
		s.row('<', float64(p.Budget)-standby(p), budget)
		clear(s.cost)
		s.cost[yield] = -1
		y, ok := s.minimum()
		return -y, ok && y < 0
	default:
		weight := (1 - p.Lambda) / float64(p.EMax)
		for k := range s.cost {
			s.cost[k] *= weight
		}
		s.cost[yield] -= p.Lambda
		z, ok := s.minimum()
		return 1 - p.Lambda - z - weight*standby(p), ok
	}
}

func small(rng *rand.Rand, seed uint64) *energy.Problem {
	hosts := 1 + rng.IntN(3)
	p := allocation.Sample(allocation.SampleOptions{
		Objective: energy.Objective(rng.IntN(3)), Nodes: hosts, Jobs: hosts + rng.IntN(2*hosts), Lambda: rng.Float64(), LightMemory: rng.IntN(2) == 0, Seed: seed,
	})
	if rng.IntN(2) == 0 { // nodes that differ, standby power, a second resource
		p.Resources = append(p.Resources, "gpu")
		for n := range p.Nodes {
			node := &p.Nodes[n]
			node.CPU, node.Capacity = 0.5+rng.Float64(), []float64{0.5 + rng.Float64(), 2}
			node.Power.Standby = 5
		}
		for j := range p.Jobs {
			p.Jobs[j].Need = append(p.Jobs[j].Need, rng.Float64())
		}
	}
	return p
}

// With light jobs only sums count, and the fast bound equals that of the whole program; where
// single jobs matter it may be weaker, but never wrong.
func TestLPIsThatOfTheSimplex(t *testing.T) {
	const seed = 11
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	same, all := 0, 0
	for k := range uint64(600) {
		p := small(rng, k)
		want, ok := lp(p)
		got, possible := solve.LPBound(p)
		if !possible {
			if ok && want > 1e-6 {
				t.Fatalf("%s %d: no bound, the simplex has %g", p.ID, k, want)
			}
			continue
		}
		if !ok {
			continue // single jobs may be the reason
		}
		if p.Objective == energy.Mixed {
			got = max(got, want-1) // power above EMax counts as EMax, which the program does not know
			if got < want-1e-7 {
				t.Errorf("%s %d: %.9f, the simplex has %.9f", p.ID, k, got, want)
			}
		}
		if p.Objective.Better(want, got) && math.Abs(want-got) > 1e-7*(1+want) {
			t.Errorf("%s %d: the bound %.9f is wrong, the simplex has %.9f", p.ID, k, got, want)
		}
		all++
		if math.Abs(want-got) <= 1e-7*(1+want) {
			same++
		}
	}
	t.Logf("the same in %d of %d", same, all)
	if all < 300 || same*10 < all*8 {
		t.Errorf("the same in %d of %d", same, all)
	}
}

// Bounds are in order, and grow with what is asked.
func TestBoundsAreOrdered(t *testing.T) {
	const seed = 12
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for k := range uint64(300) {
		p := small(rng, k)
		fluid, whole := solve.NewFluid(p), solve.NewWhole(p)
		last, lastWhole := 0.0, 0.0
		for step := 1; step <= 40; step++ {
			y := float64(step) / 40
			e, slope, ok := fluid.Power(y)
			w, okWhole := whole.Power(y)
			if ok != okWhole {
				t.Fatalf("%s %d: %v and %v at %g", p.ID, k, ok, okWhole, y)
			}
			if !ok {
				break
			}
			if slope < 0 || e < last-1e-7 || w < lastWhole-1e-7 || w < e-1e-6 {
				t.Fatalf("%s %d at %g: %g after %g, whole %g after %g", p.ID, k, y, e, last, w, lastWhole)
			}
			last, lastWhole = e, w
		}
		a, ok := solve.LPBound(p)
		b, okWhole := solve.LBHBound(p)
		if okWhole && (!ok || p.Objective.Better(b, a+1e-3*math.Copysign(1, b-a)) && math.Abs(a-b) > 1e-2) {
			t.Errorf("%s %d: LP %g %v, LBH %g %v", p.ID, k, a, ok, b, okWhole)
		}
	}
}

func TestEMax(t *testing.T) {
	p := allocation.Sample(allocation.SampleOptions{Objective: energy.Mixed, Nodes: 8, Jobs: 16, Seed: 4})
	watts, yield, ok := solve.MaxPower(p)
	if !ok {
		t.Fatal("no bound")
	}
	for _, more := range []float64{1e-4, -1e-4} {
		q := *p
		q.Objective, q.Budget, q.Floor = energy.BoundedPower, watts*energy.Watts(1+more), 0
		y, _ := solve.LPBound(&q)
		if more > 0 && y < yield-1e-9 || more < 0 && y > yield-1e-7 {
			t.Errorf("with %+g of EMax a yield of %g, EMax is for %g", more, y, yield)
		}
	}
}

func BenchmarkLP(b *testing.B) {
	for _, size := range []struct {
		name        string
		hosts, jobs int
	}{{"hosts=64", 64, 192}, {"hosts=500", 500, 1500}} {
		for _, o := range []energy.Objective{energy.BoundedYield, energy.BoundedPower, energy.Mixed} {
			p := allocation.Sample(allocation.SampleOptions{Objective: o, Nodes: size.hosts, Jobs: size.jobs, Lambda: 0.5, Seed: 1})
			b.Run(size.name+"/"+o.String(), func(b *testing.B) {
				for b.Loop() {
					solve.LPBound(p)
				}
			})
		}
	}
}
