package solve_test

import (
	"reflect"
	"runtime"
	"testing"

	"vjob/repack"
	"vjob/repack/solve"
	"vjob/tests/planted"
)

// The same problem, seed, number of iterations and of workers have the same result,
// however many processors there are.
func TestSameAgain(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for n := range uint64(12) {
		var in *repack.Instance
		if n < 4 {
			in = planted.New(planted.Options{Nodes: 20, Fill: 0.95, Seed: n})
		} else {
			in = problem(seed(n), scope{nodes: 12, vms: 30, rules: 6, soft: true, gangs: true, power: true})
		}
		for workers := 1; workers <= 2; workers++ {
			var first *solve.Result
			for i := range 6 {
				runtime.GOMAXPROCS([]int{1, 4}[i%2])
				r, err := solve.Solve(in, solve.Options{Seed: n, Iterations: 300, Workers: workers, Objective: repack.Objective(n % 4), Explain: true})
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = r
				}
				if !reflect.DeepEqual(r, first) {
					t.Fatalf("seed %d, %d workers: once\n%sand then\n%s", n, workers, resultText(first), resultText(r))
				}
			}
		}
	}
}
