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
