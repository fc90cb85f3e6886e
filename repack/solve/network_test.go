package solve_test

import (
	"testing"

	"pgregory.net/rapid"
)

// Plans keep within the links, also with rules, gangs and nodes that are switched,
// and when they are carried out late.
func TestPlansKeepWithinLinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawn{t}
		solved(t, d, problem(d, scope{nodes: 5, vms: 7, rules: 2, soft: true, gangs: true, power: true, network: true}), quick(d))
	})
}

// The like for many seeds, with hardly a rule and more VMs.
func TestManyOnLinks(t *testing.T) {
	transfers, shared := 0, 0
	for n := range 10 * seeds(t) {
		d := seed(n)
		in := problem(d, scope{nodes: 6, vms: 14, rules: 1, gangs: once(d, 2), power: once(d, 3), network: true})
		run(t, n, func(t fatal) {
			r := solved(t, d, in, quick(d))
			if r.Plan == nil {
				return
			}
			for i := range r.Plan.Actions {
				if a := &r.Plan.Actions[i]; a.Rate > 0 {
					transfers++
					if a.Start > 0 {
						shared++
					}
				}
			}
		})
	}
	if shared == 0 || shared == transfers {
		t.Errorf("%d of %d transfers begin late", shared, transfers)
	}
	t.Logf("%d of %d transfers begin late", shared, transfers)
}
