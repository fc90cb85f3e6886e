package solve_test

import (
	"reflect"
	"testing"

	"vjob/repack"
	"vjob/repack/solve"
	"vjob/tests/planted"
)

// Clusters in which the VMs need all that the nodes have, and hardly two of them are equal, get a
// plan, the same one each time.
func TestFullClusters(t *testing.T) {
	for seed := range uint64(4) {
		in := planted.New(planted.Options{Nodes: 40, Fill: 1, Seed: seed})
		run := func() *solve.Result {
			r, err := solve.Solve(in, solve.Options{Seed: seed, Workers: 2, Iterations: 64})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		r := run()
		if r.Plan == nil {
			t.Errorf("seed %d: no plan: %v", seed, r.Why)
			continue
		}
		if report, err := repack.Check(in, r.Plan); err != nil || !report.Valid() {
			t.Errorf("seed %d: %v %v", seed, err, report.Faults)
		}
		if seed == 0 && !reflect.DeepEqual(r, run()) {
			t.Error("the second plan differs from the first")
		}
	}
}

// Where little room is left, and many VMs are equal, annealing finds the first plan and better ones, the same ones
// each time, and the bound sees what drives VMs away.
func TestAnnealedClusters(t *testing.T) {
	in := planted.New(planted.Options{Nodes: 40, Fill: 0.98, Flavours: true, Seed: 2})
	run := func() *solve.Result {
		looks := 0
		r, err := solve.Solve(in, solve.Options{Seed: 1, Stop: func() bool { looks++; return looks > 60 }})
		if err != nil || r.Plan == nil {
			t.Fatal(err, r)
		}
		return r
	}
	r := run()
	if report, err := repack.Check(in, r.Plan); err != nil || !report.Valid() {
		t.Errorf("%v %v", err, report.Faults)
	}
	first, err := solve.Solve(in, solve.Options{Seed: 1, Iterations: 256})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("objective %d, bound %d; without annealing %d, bound %d", r.Figures.Objective, r.Bound, first.Figures.Objective, first.Bound)
	if first.Plan != nil && 10*r.Figures.Objective > 9*first.Figures.Objective || 2*r.Bound < 3*first.Bound {
		t.Errorf("objective %d, bound %d; without annealing %d, bound %d", r.Figures.Objective, r.Bound, first.Figures.Objective, first.Bound)
	}
	if !reflect.DeepEqual(r, run()) {
		t.Error("the second plan differs from the first")
	}
}
