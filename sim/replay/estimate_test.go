package replay_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Switches take as long as their plans say: the median to the hundredth, nine of ten to the tenth. Longer are
// those in which the VMs need more than when the plan was made.
func TestSwitchesTakeWhatTheyPromise(t *testing.T) {
	for _, policy := range []string{"firstfit", "dynamic-easy"} {
		var off []float64
		var list string
		for _, s := range run(t, policy).Switches {
			if s.State != "done" || s.Estimated <= 0 {
				continue
			}
			ratio := float64(s.Took) / float64(s.Estimated)
			off = append(off, max(ratio, 1/ratio)-1)
			list += fmt.Sprintf("%d: estimated %s, took %s\n", s.Plan, s.Estimated.Round(time.Second), s.Took.Round(time.Second))
		}
		slices.Sort(off)
		if n := len(off); n < 10 || off[n/2] > 0.01 || off[n*9/10] > 0.1 {
			t.Errorf("%s: half of %d switches are off by more than %.0f %%, one of ten by %.0f %%\n%s", policy, n, 100*off[n/2], 100*off[n*9/10], list)
		}
	}
}
