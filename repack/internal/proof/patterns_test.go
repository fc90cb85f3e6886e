package proof_test

import (
	"testing"

	"vjob/repack/internal/proof"
	"vjob/tests/brute"
)

// No plan of a tiny problem costs less than the bound from patterns, where that is higher than the other bounds.
func TestPatternsAreABound(t *testing.T) {
	raised, searched := 0, 0
	for c := range tinyProblems(150) {
		p := proof.NewPatterns(c.bounds)
		if p == nil {
			continue
		}
		bound := p.Bound()
		if bound <= c.bounds.Value() {
			continue
		}
		raised++
		a := brute.Cheapest(c.in, bound, 4_000)
		if a.Plan != nil {
			t.Errorf("%s: the bound is %d, but there is a plan for %d", c.name, bound, a.Cost)
		}
		if a.Done {
			searched++
		}
	}
	t.Logf("%d bounds raised, %d of them searched", raised, searched)
	if searched < 20 {
		t.Errorf("%d bounds raised, %d of them searched: too few", raised, searched)
	}
}
