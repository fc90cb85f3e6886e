package energy_test

import (
	"testing"

	"vjob/energy"
	"vjob/energy/solve"
	"vjob/papers/allocation"
)

// Under budgets that pay for hardly more than what memory demands, and at yields that leave
// hardly any room, our search finds an allocation wherever an algorithm of the paper does.
func TestNeverFailsWhereOthersDoNot(t *testing.T) {
	solved := 0
	for seed := range uint64(60) {
		for _, o := range []energy.Objective{energy.BoundedYield, energy.BoundedPower} {
			hosts := []int{8, 16, 32}[seed%3]
			p := allocation.Sample(allocation.SampleOptions{Objective: o, Nodes: hosts, Jobs: hosts * int(1+seed/3%3), LightMemory: seed%7 == 0, Seed: 7000 + seed})
			p.Budget *= energy.Watts(0.2 + 0.01*float64(seed))
			r, err := solve.Solve(p, solve.Options{Seed: seed, Steps: 400})
			if err != nil {
				t.Fatal(err)
			}
			if r.Allocation != nil {
				solved++
				continue
			}
			for _, h := range allocation.All() {
				if h.For == o && h.Algorithm(p) != nil {
					t.Errorf("%s with %.0f W: none found (%q), but %s finds one", p.ID, float64(p.Budget), r.Reasons, h.Name)
				}
			}
		}
	}
	if solved < 80 {
		t.Errorf("only %d problems have an allocation", solved)
	}
}
