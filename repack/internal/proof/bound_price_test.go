package proof_test

import (
	"fmt"
	"iter"
	"testing"

	"vjob/repack"
	"vjob/repack/internal/problem"
	"vjob/repack/internal/proof"
	"vjob/tests/brute"
	"vjob/tests/planted"
	"vjob/tests/tiny"
)

// priced returns the bound after all rounds.
func priced(b *proof.Bounds) (bound int64) {
	p := proof.NewPrices(b)
	for !p.Done() {
		bound = p.Raise(problem.Never, 10)
	}
	return bound
}

// tinyProblem is a problem with its bounds.
type tinyProblem struct {
	name   string
	in     *repack.Instance
	bounds *proof.Bounds
}

// tinyProblems yields tiny problems of all families that are not proved infeasible.
func tinyProblems(seeds uint64) iter.Seq[tinyProblem] {
	return func(yield func(tinyProblem) bool) {
		for _, f := range tiny.Families() {
			for seed := range seeds {
				in := tiny.New(tiny.Options{Family: f, Seed: seed, Nodes: 4, VMs: 6})
				amended, err := in.Amended()
				if err != nil {
					continue
				}
				m := problem.New(amended, repack.Completion)
				if len(proof.Infeasible(m)) > 0 {
					continue
				}
				if !yield(tinyProblem{fmt.Sprintf("%s, seed %d", f, seed), in, proof.NewBounds(m)}) {
					return
				}
			}
		}
	}
}

// No plan of a tiny problem costs less than the bound from prices.
func TestPricedIsABound(t *testing.T) {
	plans, raised := 0, 0
	for c := range tinyProblems(300) {
		bound := priced(c.bounds)
		a := brute.Cheapest(c.in, bound, 20_000)
		if a.Plan != nil {
			t.Errorf("%s: the bound is %d, but there is a plan for %d", c.name, bound, a.Cost)
		}
		if a.Done {
			plans++
		}
		if bound > c.bounds.Value() {
			raised++
		}
	}
	if plans < 300 || raised == 0 {
		t.Errorf("%d problems searched, %d bounds raised", plans, raised)
	}
}

// In a full cluster the bound sees that those that come drive others away. The seeds have plans
// for 133, 50, 118 and 109.
func TestPricedSeesFullClusters(t *testing.T) {
	for seed, known := range []int64{133, 50, 118, 109} {
		in := planted.New(planted.Options{Nodes: 40, Fill: 0.98, Seed: uint64(seed)})
		b := proof.NewBounds(problem.New(in, repack.Completion))
		bound, alone := priced(b), b.Value()
		t.Logf("seed %d: %d, each node alone %d, a plan costs %d", seed, bound, alone, known)
		if bound < 2*alone || bound > known {
			t.Errorf("seed %d: the bound is %d; each node alone gives %d, and a plan costs %d", seed, bound, alone, known)
		}
	}
}
