package consolidation_test

import (
	"testing"

	"vjob/papers/consolidation"
	"vjob/repack"
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
