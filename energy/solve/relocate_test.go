package solve_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/solve"
)

// started draws a small cluster with an initial assignment, by first fit.
func started(rng *rand.Rand) (*energy.Problem, solve.Start) {
	p := &energy.Problem{Objective: energy.BoundedYield, Floor: 1, Resources: []string{"memory"}}
	for range 2 + rng.IntN(3) {
		idle := energy.Watts(40 + rng.IntN(80))
		node := energy.Node{CPU: float64(2 + rng.IntN(3)), Capacity: []float64{float64(4 + rng.IntN(5))}}
		node.Power = energy.Power{Idle: idle, Full: idle + energy.Watts(50+rng.IntN(200)), Standby: energy.Watts(rng.IntN(10))}
		if rng.IntN(3) == 0 {
			node.Power.Standby = idle // it cannot go off
		}
		if rng.IntN(3) == 0 {
			node.Power.Measured = []energy.Point{{Load: 0.5, Power: (node.Power.Idle + 2*node.Power.Full) / 3}}
		}
		p.Nodes = append(p.Nodes, node)
	}
	banned := map[[2]int]bool{}
	p.May = func(job, node int) bool { return !banned[[2]int{job, node}] }
	var s solve.Start
	a := &energy.Allocation{}
	for j := range 2 + rng.IntN(5) {
		p.Jobs = append(p.Jobs, energy.Job{CPU: 0.1 + rng.Float64(), Need: []float64{float64(1 + rng.IntN(3))}})
		a.CPU = append(a.CPU, p.Jobs[j].CPU)
		at := -1
		for n := range p.Nodes {
			a.At = append(a.At[:j], n)
			if _, faults := p.Check(a); at < 0 && len(faults) == 0 {
				at = n
			}
		}
		if at < 0 {
			p.Jobs, a.CPU, a.At = p.Jobs[:j], a.CPU[:j], a.At[:j]
			break
		}
		a.At[j] = at
		if other := rng.IntN(len(p.Nodes)); rng.IntN(3) == 0 && other != at {
			banned[[2]int{j, other}] = true
		}
		s.MoveCost = append(s.MoveCost, energy.Watts(rng.IntN(40)))
	}
	s.At = a.At
	return p, s
}

// worth returns the value of an assignment, and false if it is infeasible.
func worth(p *energy.Problem, s *solve.Start, at []int) (energy.Watts, bool) {
	a := &energy.Allocation{At: at, CPU: make([]float64, len(at))}
	for j := range at {
		a.CPU[j] = p.Jobs[j].CPU
	}
	m, faults := p.Check(a)
	for j, n := range at {
		if n != s.At[j] {
			m.Power += s.MoveCost[j]
		}
	}
	return m.Power, len(faults) == 0
}

// From any start Relocate finds the best of all assignments, move costs included, and its
// value is right.
func TestRelocateAgainstAllAssignments(t *testing.T) {
	const problems = 400
	missed := 0
	for seed := range uint64(problems) {
		rng := rand.New(rand.NewPCG(seed, 7))
		p, s := started(rng)
		if len(p.Jobs) == 0 {
			continue
		}
		got, err := solve.Relocate(p, s, solve.Options{Seed: seed, Steps: 60})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		value, ok := worth(p, &s, got.At)
		if before, _ := worth(p, &s, s.At); !ok || value > before+1e-6 || !rankWindow(value, got.Value) {
			t.Fatalf("seed %d: %v comes to %s (valid: %v), it says %s; the start to %s", seed, got.At, value, ok, got.Value, before)
		}
		best, at := value, make([]int, len(p.Jobs))
		for next := true; next; next = count(at, len(p.Nodes)) {
			if v, ok := worth(p, &s, at); ok {
				best = min(best, v)
			}
		}
		if value > best+1e-6 {
			missed++
			t.Logf("seed %d: %s, the best is %s", seed, value, best)
		}
	}
	if missed > problems/100 {
		t.Errorf("%d of %d are not the best", missed, problems)
	}
}

func rankWindow(a, b energy.Watts) bool { return a-b < 1e-6 && b-a < 1e-6 }

// count is the next of all assignments; false: that was the last.
func count(at []int, nodes int) bool {
	for j := range at {
		if at[j]++; at[j] < nodes {
			return true
		}
		at[j] = 0
	}
	return false
}

// The same problem and seed give the same places.
func TestRelocateIsRepeatable(t *testing.T) {
	p, s := started(rand.New(rand.NewPCG(11, 7)))
	first, err := solve.Relocate(p, s, solve.Options{Seed: 3, Steps: 40})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if again, _ := solve.Relocate(p, s, solve.Options{Seed: 3, Steps: 40}); !slices.Equal(first.At, again.At) || first.Value != again.Value {
			t.Fatalf("%+v, then %+v", first, again)
		}
	}
}

// An invalid start is refused, and the error names the field.
func TestRelocateRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*energy.Problem, *solve.Start){
		"too much on a node": func(p *energy.Problem, _ *solve.Start) { p.Jobs[0].Need[0] = 100 },
		"a negative price":   func(_ *energy.Problem, s *solve.Start) { s.MoveCost[0] = -1 },
		"no place for some":  func(_ *energy.Problem, s *solve.Start) { s.At = s.At[1:] },
		"another objective":  func(p *energy.Problem, _ *solve.Start) { p.Objective, p.Budget = energy.BoundedPower, 100 },
	} {
		p, s := started(rand.New(rand.NewPCG(1, 7)))
		spoil(p, &s)
		if _, err := solve.Relocate(p, s, solve.Options{Steps: 1}); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// 32 nodes, each a quarter full: a few steps empty more than half.
func BenchmarkRelocate(b *testing.B) {
	p := &energy.Problem{Objective: energy.BoundedYield, Floor: 1, Resources: []string{"memory"}}
	s := solve.Start{}
	for n := range 32 {
		p.Nodes = append(p.Nodes, energy.Node{CPU: 16, Capacity: []float64{64}, Power: energy.Power{Idle: 100, Full: 300, Standby: 5}})
		for range 4 {
			p.Jobs = append(p.Jobs, energy.Job{CPU: 1, Need: []float64{4}})
			s.At, s.MoveCost = append(s.At, n), append(s.MoveCost, 1)
		}
	}
	for b.Loop() {
		r, err := solve.Relocate(p, s, solve.Options{Steps: 60})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(r.Value), "watts")
		b.ReportMetric(float64(r.Steps), "steps")
	}
}
