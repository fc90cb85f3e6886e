package consolidation_test

import (
	"testing"

	"vjob/papers/consolidation"
	"vjob/repack"
	"vjob/repack/rule"
	"vjob/repack/solve"
	"vjob/tests/pace"
	"vjob/tests/planted"
)

// The fewest nodes are never more than a search for something else leaves in use,
// and the plan that leaves them is right.
func TestFewestNodes(t *testing.T) {
	for seed := range uint64(1 + 5/pace.Slower) {
		in := planted.New(planted.Options{Nodes: 12, Fill: 0.6, Seed: seed})
		plain, err := solve.Solve(in, solve.Options{Iterations: -1})
		if err != nil {
			t.Fatal(err)
		}
		r, err := consolidation.Plan(in, solve.Options{Iterations: 32})
		if err != nil || r.Verdict != solve.Solved {
			t.Fatalf("seed %d: %v, verdict %d: %q", seed, err, r.Verdict, r.Why)
		}
		report, err := repack.Check(in, r.Plan)
		if err != nil || !report.Valid() {
			t.Fatalf("seed %d: %v, %q", seed, err, report.Faults)
		}
		used := report.Figures.NodesUsed
		t.Logf("seed %d: %d nodes, bound %d, proved %t; %d without looking for that", seed, used, r.Bound, r.Proved, plain.Figures.NodesUsed)
		if used > plain.Figures.NodesUsed || int64(used) < r.Bound || r.Proved != (int64(used) == r.Bound) {
			t.Errorf("seed %d: %d nodes in use, bound %d, proved %t; %d without looking for that", seed, used, r.Bound, r.Proved, plain.Figures.NodesUsed)
		}
	}
}

// If no plan leads to the fewest nodes, the bound of the result is still the number of nodes, and
// not the cost of the plan.
func TestBoundWithoutPlanToThePacking(t *testing.T) {
	in := &repack.Instance{Dims: []string{"cpu"}}
	for n := range 2 {
		in.Nodes = append(in.Nodes, repack.Node{Capacity: []int64{2}})
		in.VMs = append(in.VMs, repack.VM{
			State: repack.Running, Want: repack.Running, Host: n, Now: []int64{1}, Next: []int64{1}, Weight: 1,
			Takes: repack.Durations{Migrate: 5},
		})
	}
	k, err := rule.Find("deadline")
	if err != nil {
		t.Fatal(err)
	}
	deadline, err := k.New(rule.Args{Instance: in, Continuous: true, Values: map[string]any{"vms": []int{0, 1}, "at": repack.Ticks(1)}})
	if err != nil {
		t.Fatal(err)
	}
	in.Rules = []repack.Posted{{Rule: deadline}}
	r, err := consolidation.Plan(in, solve.Options{Iterations: 32})
	if err != nil || r.Verdict != solve.Solved {
		t.Fatalf("verdict %d, %v: %q", r.Verdict, err, r.Why)
	}
	if r.Figures.NodesUsed != 2 || r.Bound != 1 || r.Proved {
		t.Errorf("%d nodes in use, bound %d, proved %t; want 2, 1, false", r.Figures.NodesUsed, r.Bound, r.Proved)
	}
}
