package improve

import (
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy/dpm"
)

// The extremes are those of the largest rates of the minutes of the last hour, as if all of them were kept. VMs that do
// not run any more are forgotten; without a known rate a VM has no past.
func TestTrafficHistory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	h := &trafficHistory{vms: map[cluster.VMID]*trafficRecord{}}
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	a, b := cluster.VMID{VJob: 1}, cluster.VMID{VJob: 2}
	minutes := map[int]cluster.Rate{} // of a
	rate := cluster.Rate(0)
	for i := range 4000 { // every 15 seconds
		if rng.IntN(20) == 0 {
			rate = cluster.Rate(rng.IntN(6))
		}
		if i == 2000 {
			rate = 9
		}
		minute := i / 4
		minutes[minute] = max(minutes[minute], rate)
		h.add(start.Add(time.Duration(i)*15*time.Second), []dpm.Sample{{VM: a}, {VM: b}}, func(vm cluster.VMID) (cluster.Rate, bool) {
			return rate, vm == a
		})
		least, most := minutes[minute], minutes[minute]
		for k := max(0, minute-59); k < minute; k++ {
			least, most = min(least, minutes[k]), max(most, minutes[k])
		}
		if gotLeast, gotMost, known := h.extremes(a); !known || gotLeast != least || gotMost != most {
			t.Fatalf("sample %d: %d to %d (%t), want %d to %d", i, gotLeast, gotMost, known, least, most)
		}
	}
	if _, _, known := h.extremes(b); known {
		t.Error("a VM without a rate has a past")
	}
	h.add(start.Add(24*time.Hour), []dpm.Sample{{VM: b}}, func(cluster.VMID) (cluster.Rate, bool) { return 7, true })
	if least, most, known := h.extremes(b); least != 7 || most != 7 || !known {
		t.Errorf("%d to %d (%t), want 7", least, most, known)
	}
	if _, _, known := h.extremes(a); known || len(h.vms) != 1 {
		t.Error("a VM that does not run is remembered")
	}
}
