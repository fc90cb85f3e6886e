package cpushare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"vjob/energy"
	"vjob/energy/cpushare"
)

// drawn is a random problem of a few nodes, jobs and limits.
func drawn(r *rand.Rand) *cpushare.Problem {
	p := &cpushare.Problem{MaxYield: 1, Lambda: 1}
	if r.IntN(4) == 0 {
		p.MaxYield = float64(r.IntN(100)) / 100
	}
	for range 1 + r.IntN(4) {
		idle := energy.Watts(r.IntN(100))
		full := idle + energy.Watts(r.IntN(200))
		n := cpushare.Node{Power: energy.Power{Idle: idle, Full: full}, CPU: float64(1 + r.IntN(8))}
		if r.IntN(3) == 0 {
			n.Power.Measured = []energy.Point{{Load: 0.4, Power: idle + (full-idle)*energy.Watts(r.Float64())}}
		}
		p.Nodes = append(p.Nodes, n)
	}
	for range r.IntN(7) {
		j := cpushare.Job{Floor: float64(r.IntN(11)) / 10, Fixed: r.IntN(6) == 0}
		for range 1 + r.IntN(3) {
			j.VMs = append(j.VMs, cpushare.VM{Node: r.IntN(len(p.Nodes)), CPU: float64(r.IntN(5)) / 2})
		}
		p.Jobs = append(p.Jobs, j)
	}
	for range r.IntN(3) {
		l := cpushare.Limit{Watts: energy.Watts(r.IntN(600))}
		for n := range p.Nodes {
			if r.IntN(3) > 0 {
				l.Nodes = append(l.Nodes, n)
			}
		}
		p.Limits = append(p.Limits, l)
	}
	return p
}

// draws is the power that each limit counts, computed independently.
func draws(p *cpushare.Problem, yields []float64) []energy.Watts {
	sums := make([]energy.Watts, len(p.Limits))
	for i, l := range p.Limits {
		for _, n := range l.Nodes {
			load := 0.0
			for j, y := range yields {
				for _, vm := range p.Jobs[j].VMs {
					if vm.Node == n {
						load += y * vm.CPU
					}
				}
			}
			sums[i] += p.Nodes[n].Power.At(load / p.Nodes[n].CPU)
		}
	}
	return sums
}

// counts reports whether a limit counts any CPU of a job.
func counts(p *cpushare.Problem, limit, j int) bool {
	return slices.ContainsFunc(p.Jobs[j].VMs, func(vm cpushare.VM) bool {
		return vm.CPU > 0 && slices.Contains(p.Limits[limit].Nodes, vm.Node)
	})
}

// allowed reports whether a set of jobs, with yields, breaks no limit that counts one of
// them that is not fixed.
func allowed(p *cpushare.Problem, yields []float64) bool {
	for i, sum := range draws(p, yields) {
		if sum <= p.Limits[i].Watts+1e-6 {
			continue
		}
		for j, y := range yields {
			if y > 0 && !p.Jobs[j].Fixed && counts(p, i, j) {
				return false
			}
		}
	}
	return true
}

// Choose returns the lexicographically first of all feasible sets of jobs.
func TestChooseIsFirstInOrder(t *testing.T) {
	for seed := range uint64(3000) {
		p := drawn(rand.New(rand.NewPCG(seed, 1)))
		for j := range p.Jobs {
			p.Jobs[j].Floor = max(p.Jobs[j].Floor, 0.1) // so that "runs" can be told by the yield
		}
		runs, refusals := p.Select()
		var best []bool
		for set := range 1 << len(p.Jobs) {
			try, yields, whole := make([]bool, len(p.Jobs)), make([]float64, len(p.Jobs)), true
			for j := range p.Jobs {
				try[j] = set>>j&1 == 1
				if try[j] {
					yields[j] = p.Jobs[j].Floor
				}
				whole = whole && (try[j] || !p.Jobs[j].Fixed)
			}
			if whole && allowed(p, yields) && (best == nil || comesFirst(try, best)) {
				best = try
			}
		}
		if !slices.Equal(runs, best) {
			t.Fatalf("seed %d: %v run, want %v of %+v", seed, runs, best, p)
		}
		for j, run := range runs {
			if r, refused := refusals[j]; refused == run || refused && (r.Shortage <= 0 || !counts(p, r.Limit, j)) {
				t.Fatalf("seed %d: job %d: runs %v, refusal %+v", seed, j, run, r)
			}
		}
	}
}

// comesFirst reports whether a has the first job in which the sets differ.
func comesFirst(a, b []bool) bool {
	for j := range a {
		if a[j] != b[j] {
			return a[j]
		}
	}
	return false
}

// The shares are max-min fair, to a step: no job gets less than its floor, and a job gets no more
// only if a limit would be exceeded in which no job above its floor has a larger yield.
func TestShareIsFair(t *testing.T) {
	for seed := range uint64(3000) {
		p := drawn(rand.New(rand.NewPCG(seed, 2)))
		runs, _ := p.Select()
		yields := p.Share(runs)
		floors := make([]float64, len(p.Jobs))
		for j, y := range yields {
			if runs[j] {
				floors[j] = p.Jobs[j].Floor
			}
			if y < floors[j] || y > max(floors[j], p.MaxYield)+1e-9 {
				t.Fatalf("seed %d: job %d gets %g, floor %g", seed, j, y, floors[j])
			}
		}
		before, after := draws(p, floors), draws(p, yields)
		for i := range after {
			if after[i] > max(before[i], p.Limits[i].Watts)+1e-6 {
				t.Fatalf("seed %d: limit %d: %g W of %g", seed, i, float64(after[i]), float64(p.Limits[i].Watts))
			}
		}
		for j, y := range yields {
			if runs[j] && y < p.MaxYield-0.01 && !bounded(p, yields, j) {
				t.Fatalf("seed %d: job %d gets %g and could have more: %+v, %v", seed, j, y, p, yields)
			}
		}
	}
}

// bounded reports whether a limit denies a job one more step, and no other job in it has a larger
// yield, except by its floor.
func bounded(p *cpushare.Problem, yields []float64, j int) bool {
	more := slices.Clone(yields)
	for k, y := range yields { // jobs at the same yield rise with it
		if y > 0 && y <= yields[j]+1e-9 || k == j {
			more[k] = math.Max(y, yields[j]+0.0101)
		}
	}
	for i, sum := range draws(p, more) {
		if sum <= p.Limits[i].Watts || !counts(p, i, j) {
			continue
		}
		fair := true
		for k, y := range yields {
			fair = fair && (!counts(p, i, k) || y <= max(p.Jobs[k].Floor, yields[j]+0.0101))
		}
		if fair {
			return true
		}
	}
	return false
}

// With mixed objectives power is traded for yield: if a watt counts little, all jobs get as much
// as they can; if it counts most, they get their floors.
func TestShareTrades(t *testing.T) {
	for lambda, want := range map[float64]float64{1: 1, 0.99: 1, 0: 0.2, 0.01: 0.2} {
		p := &cpushare.Problem{
			Nodes: []cpushare.Node{{Power: energy.Power{Idle: 100, Full: 300}, CPU: 4}},
			Jobs:  []cpushare.Job{{VMs: []cpushare.VM{{CPU: 4}}, Floor: 0.2}}, MaxYield: 1, Lambda: lambda,
		}
		if got := p.Share([]bool{true}); got[0] != want {
			t.Errorf("λ %g: %g, want %g", lambda, got[0], want)
		}
	}
}

// Excess states by how much a limit is below the draw of idle nodes.
func TestExcess(t *testing.T) {
	p := &cpushare.Problem{
		Nodes:  []cpushare.Node{{Power: energy.Power{Idle: 100, Full: 300}, CPU: 4}, {Power: energy.Power{Idle: 100, Standby: 7}, Off: true}},
		Jobs:   []cpushare.Job{{VMs: []cpushare.VM{{CPU: 2}}, Floor: 1}},
		Limits: []cpushare.Limit{{Watts: 90, Nodes: []int{0, 1}}, {Watts: 250, Nodes: []int{0}}}, MaxYield: 1, Lambda: 1,
	}
	for _, c := range []struct {
		runs bool
		want string
	}{{false, "[17 0]"}, {true, "[117 0]"}} {
		if got := fmt.Sprint(toFloats(p.Excess([]bool{c.runs}))); got != c.want {
			t.Errorf("runs %v: %s, want %s", c.runs, got, c.want)
		}
	}
	if runs, refusals := p.Select(); runs[0] || refusals[0].Limit != 0 || refusals[0].Shortage != 117 {
		t.Errorf("%v, %+v", runs, refusals)
	}
}

func toFloats(list []energy.Watts) (out []float64) {
	for _, w := range list {
		out = append(out, float64(w))
	}
	return out
}

// The minimum draw of a node that is switched is not available to jobs, and is not added to its
// load.
func TestLeast(t *testing.T) {
	for _, c := range []struct {
		least energy.Watts
		off   bool
		runs  bool
	}{{0, false, true}, {150, false, true}, {151, false, false}, {0, true, true}, {170, true, false}} {
		p := cpushare.Problem{
			Nodes: []cpushare.Node{
				{Power: energy.Power{Idle: 100, Full: 200}, CPU: 1},
				{Power: energy.Power{Idle: 50, Full: 60, Standby: 4}, CPU: 1, Off: c.off, MinDraw: c.least},
			},
			Jobs: []cpushare.Job{{Floor: 0.5, VMs: []cpushare.VM{{CPU: 1}}}}, Limits: []cpushare.Limit{{Watts: 300, Nodes: []int{0, 1}}}, MaxYield: 1, Lambda: 1,
		}
		if runs, _ := p.Select(); runs[0] != c.runs {
			t.Errorf("at least %s, off %v: it runs: %v", c.least, c.off, runs[0])
		}
	}
}
