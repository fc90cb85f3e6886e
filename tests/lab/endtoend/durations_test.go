//go:build libvirt_dlopen

package endtoend

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"vjob/api/wire"
	"vjob/tests/lab"
)

// learningSwitches is how many switches the daemon gets to learn from.
const learningSwitches = 20

// After some switches of real VMs the estimates of the daemon are right: half of the switches that
// follow take what was estimated, within a fifth.
func TestEstimatesBecomeRight(t *testing.T) {
	b := setUp(t, lab.Options{Locks: true, ImageDiskMiB: 512})
	b.run("a gang is suspended and resumed", func(b systemTest) {
		id := b.started(gang{name: "learn", vms: 3, mib: 64, words: "fill=24", rules: "continuous spread($VMS);"})
		for range learningSwitches { // each turn is two switches
			b.order(b.d.client.Suspend, id)
			b.state(id, "suspended")
			b.order(b.d.client.Resume, id)
			b.state(id, "running")
		}
		plans := b.ratios()
		if len(plans) < 2*learningSwitches {
			b.Fatalf("only %d switches are done", len(plans))
		}
		for _, p := range plans {
			b.Logf("switch %d: estimated %.2fs, took %.2fs, ratio %.2f", p.ID, p.MakespanSeconds, p.TookSeconds, p.Ratio)
		}
		after := plans[learningSwitches:]
		slices.SortFunc(after, func(x, y wire.Plan) int { return cmp.Compare(math.Abs(x.Ratio-1), math.Abs(y.Ratio-1)) })
		if off := math.Abs(after[len(after)/2].Ratio - 1); off > 0.2 {
			b.Errorf("after %d switches the median error of the estimates is %.0f %%, want at most 20 %%", learningSwitches, 100*off)
		} else {
			b.Logf("MEASURED: after %d switches the median error of the estimates is %.0f %%", learningSwitches, 100*off)
		}
		b.gapless(id)
	})
	b.d.stop()
}

// ratios lists the switches that are done, the earliest first.
func (b systemTest) ratios() []wire.Plan {
	b.Helper()
	list, err := b.d.client.Plans(b.Context(), 200)
	b.must(err)
	plans := slices.DeleteFunc(list.Plans, func(p wire.Plan) bool { return p.Ratio == 0 })
	slices.Reverse(plans)
	return plans
}
