package proof_test

import (
	"testing"

	"vjob/repack"
	"vjob/repack/internal/problem"
	"vjob/repack/internal/proof"
	"vjob/tests/brute"
	"vjob/tests/tiny"
)

// No plan of a tiny problem costs less than the bound from patterns, where that is higher than the other bounds.
func TestPatternsAreABound(t *testing.T) {
	raised, searched := 0, 0
	for _, f := range tiny.Families() {
		for seed := range uint64(150) {
			in := tiny.New(tiny.Options{Family: f, Seed: seed, Nodes: 4, VMs: 6})
			amended, err := in.Amended()
			if err != nil {
				continue
			}
			m := problem.New(amended, repack.Completion)
			if len(proof.Infeasible(m)) > 0 {
				continue
			}
			b := proof.NewBounds(m)
			p := proof.NewPatterns(b)
			if p == nil {
				continue
			}
			bound := p.Bound()
			if bound <= b.Value() {
				continue
			}
			raised++
			a := brute.Cheapest(in, bound, 4_000)
			if a.Plan != nil {
				t.Errorf("%s, seed %d: the bound is %d, but there is a plan for %d", f, seed, bound, a.Cost)
			}
			if a.Done {
				searched++
			}
		}
	}
	t.Logf("%d bounds raised, %d of them searched", raised, searched)
	if searched < 20 {
		t.Errorf("%d bounds raised, %d of them searched: too few", raised, searched)
	}
}
