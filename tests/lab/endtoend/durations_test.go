//go:build libvirt_dlopen

package endtoend

import (
	"math"
	"slices"
	"testing"

	"vjob/api/wire"
	"vjob/tests/lab"
)

// learningSwitches is how many switches the daemon gets to learn from.
const learningSwitches = 20

// After some switches of real VMs the estimates of the daemon are right: half of the switches that
// follow take what was estimated, within a fifth. Where other work makes the machine faster or
// slower meanwhile, they are as good as a forecast in hindsight: the median of all switches of the
// same kind before.
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
		var estimates, forecasts []float64
		for i := learningSwitches; i < len(plans); i++ {
			estimates = append(estimates, math.Abs(plans[i].Ratio-1))
			forecasts = append(forecasts, math.Abs(plans[i].TookSeconds/forecast(plans[:i], plans[i].CostMiB)-1))
		}
		off, bound := median(estimates), max(0.2, 1.2*median(forecasts))
		b.Logf("MEASURED: after %d switches the median error of the estimates is %.0f %%, that of forecasts %.0f %%",
			learningSwitches, 100*off, 100*median(forecasts))
		if off > bound {
			b.Errorf("the median error is %.0f %%, want at most %.0f %%", 100*off, 100*bound)
		}
		b.gapless(id)
	})
	b.d.stop()
}

// forecast is the median of what the plans of one cost took, or else of what all took: suspends and resumes differ in their costs.
func forecast(plans []wire.Plan, cost int64) float64 {
	var same, all []float64
	for _, p := range plans {
		all = append(all, p.TookSeconds)
		if p.CostMiB == cost {
			same = append(same, p.TookSeconds)
		}
	}
	if len(same) == 0 { // an image has come to lie on another node
		return median(all)
	}
	return median(same)
}

// median returns the upper median of at least one value.
func median(values []float64) float64 {
	return slices.Sorted(slices.Values(values))[len(values)/2]
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
