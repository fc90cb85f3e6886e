package energy_test

import (
	"math"
	"strings"
	"testing"

	"vjob/energy"
	"vjob/energy/solve"
	"vjob/papers/allocation"
	"vjob/tests/pace"
)

// The bounds are those that others have computed with a solver. For hosts that differ the
// bound with whole hosts may be weaker here, but not stronger than any allocation.
func TestBoundsAreThoseOfTheReference(t *testing.T) {
	for _, in := range instances(t) {
		ref := in.Reference
		if ref == nil {
			continue
		}
		lp, ok := solve.LPBound(in.Problem)
		if !ok || ref.LPBound == nil || math.Abs(lp-*ref.LPBound) > 1e-6*(1+lp) {
			t.Errorf("%s: LPBOUND %g %v, the reference is %v", in.ID, lp, ok, ref.LPBound)
		}
		lbh, ok := solve.LBHBound(in.Problem)
		alike := !strings.Contains(in.ID, "het")
		if !ok || alike && ref.LBH != nil && math.Abs(lbh-*ref.LBH) > 1e-4*(1+lbh) {
			t.Errorf("%s: LBH %g %v, the reference is %g", in.ID, lbh, ok, *ref.LBH)
		}
		if best := bestOf(in); best != nil && in.Objective.Better(*best, lbh) && math.Abs(*best-lbh) > 1e-6*(1+lbh) {
			t.Errorf("%s: LBH %g, an allocation with %g is known", in.ID, lbh, *best)
		}
	}
}

// sameReading has the names in the files of the algorithms that are read in the same way.
var sameReading = map[string]string{
	"GREEDY_BOUNDEDYIELD_1": "greedy-yield-1", "GREEDY_BOUNDEDYIELD_2": "greedy-yield-2",
	"GREEDY_BOUNDEDYIELD_3": "greedy-yield-3", "GREEDY_BOUNDEDYIELD_4": "greedy-yield-4",
	"EARESALLOC_BOUND_Y": "ea-resalloc-yield", "EARESALLOC_MIXED": "ea-resalloc-mixed", "EARESALLOC_BOUND_E": "ea-resalloc-power",
	"GREEDY_BOUNDEDPOWER_1": "greedy-power-1-kept", "GREEDY_BOUNDEDPOWER_2": "greedy-power-2-kept",
}

// On hosts that are alike the paper's algorithms come to the values that others have
// reproduced: always where nothing is searched for, nearly always elsewhere.
func TestPublishedAlgorithmsAreReproduced(t *testing.T) {
	same, all := map[string]int{}, map[string]int{}
	for _, in := range instances(t) {
		if in.Reference == nil || strings.Contains(in.ID, "het") {
			continue
		}
		for theirs, ours := range sameReading {
			want, there := in.Reference.Paper[theirs]
			if !there {
				continue
			}
			got, ok := published(in.Problem, ours)
			all[ours]++
			if ok == (want != nil) && (!ok || math.Abs(got-*want) < 1e-6*(1+got)) {
				same[ours]++
			}
		}
	}
	for _, name := range sameReading {
		exact := strings.Contains(name, "yield") || strings.Contains(name, "mixed")
		if all[name] == 0 || exact && same[name] < all[name] || same[name]*10 < all[name]*8 {
			t.Errorf("%s: %d of %d as the reference", name, same[name], all[name])
		}
	}
}

// In a number of steps that takes a tenth of a second or less, our search is no worse than
// the best of the paper's algorithms and near the best value that is known, and finds the
// optimum where it was computed.
func TestNoWorse(t *testing.T) {
	for i, in := range instances(t) {
		if i%pace.Slower > 0 {
			continue
		}
		r, err := solve.Solve(in.Problem, solve.Options{Seed: 1, Steps: 3000})
		if err != nil {
			t.Fatal(err)
		}
		if r.Allocation == nil {
			t.Errorf("%s: none found: %q", in.ID, r.Reasons)
			continue
		}
		for _, h := range allocation.All() {
			if h.For != in.Objective {
				continue
			}
			if v, ok := published(in.Problem, h.Name); ok && in.Objective.Better(v, r.Value) && math.Abs(v-r.Value) > 1e-9*(1+v) {
				t.Errorf("%s: %g, %s has %g", in.ID, r.Value, h.Name, v)
			}
		}
		best := bestOf(in)
		if best == nil {
			continue
		}
		limit := 0.015
		if len(in.Nodes) <= 8 {
			limit = 0.005
		}
		if milp := in.Reference.MILP; milp != nil && milp.Status == "optimal" && len(in.Nodes) <= 4 {
			limit = 1e-6
		}
		if gap := in.Objective.Gap(r.Value, *best); gap > limit {
			t.Errorf("%s: %g, %.3f %% worse than the best known", in.ID, r.Value, 100*gap)
		}
	}
}

// On the paper's distribution the mean of LPBOUND is that of its table 2, 1908 W, and the
// algorithms are as far from it as it says. Like the paper, it compares the mean of what an
// algorithm has solved with the mean bound of all, which flatters those that fail.
func TestPaperTable(t *testing.T) {
	const draws, few = 100, 4 // of each class, as in the paper; and for our search
	oursSum, oursLP := 0.0, 0.0
	lp, sums, failed := 0.0, map[string]float64{}, map[string]int{}
	solved := map[string]int{}
	n := 0
	for _, hosts := range []int{4, 6, 8, 16, 32, 64} {
		for ratio := 1; ratio <= 3; ratio++ {
			for seed := range uint64(draws) {
				p := allocation.Sample(allocation.SampleOptions{Objective: energy.BoundedYield, Nodes: hosts, Jobs: hosts * ratio, Seed: seed})
				value, ok := solve.LPBound(p)
				if !ok {
					continue
				}
				n++
				lp += value
				if seed < few {
					r, err := solve.Solve(p, solve.Options{Seed: seed, Steps: 400})
					if err != nil {
						t.Fatal(err)
					}
					if r.Allocation != nil {
						oursSum, oursLP = oursSum+r.Value, oursLP+value
					}
				}
				for _, h := range allocation.All()[:5] {
					v, ok := published(p, h.Name)
					if !ok {
						failed[h.Name]++
						continue
					}
					sums[h.Name] += v
					solved[h.Name]++
				}
			}
		}
	}
	if mean := lp / float64(n); mean < 1700 || mean > 2150 {
		t.Errorf("mean LPBOUND %.0f W, the paper has 1908 W", mean)
	}
	over := 100 * (oursSum/oursLP - 1)
	t.Logf("%-18s %+.1f %% over LPBOUND, on %d of each class", "ours", over, few)
	if over > 5 {
		t.Errorf("ours: %+.1f %% over LPBOUND, at most 5 %% is the aim", over)
	}
	for name, sum := range sums {
		over, fails := 100*(sum/float64(solved[name])/(lp/float64(n))-1), 100*float64(failed[name])/float64(n)
		t.Logf("%-18s %+.1f %% over LPBOUND, %.1f %% failures", name, over, fails)
		if over < 4 || over > 16 || fails > 15 {
			t.Errorf("%s: %+.1f %% over LPBOUND, %.1f %% failures; the paper has 9.5 to 15.4 %% and 3 to 12 %%", name, over, fails)
		}
	}
}
