package dpm

import (
	"time"
)

// pays weighs what a host off saves against what that costs (§4.2): both in the
// currency of a resource over time, and the benefit must outweigh the cost by the
// factor for processors and for memory.
//
// The benefit is the host's capacity over the time that it is expected to be off. The
// cost is that of moving its VMs away and back again, and what would be missing if the
// worst demand came after the expected stable time: for as long as it takes to notice
// (the window for on) and to boot, and to finish going off if it comes earlier.
func (d *decision) pays(h *Host, next *decision) bool {
	boot, shut := h.Power.On.Time, h.Power.Off.Time
	stable := d.stable()
	worst := estimate(d.total(d.RiskWindow), d.RiskDeviations)
	has := float64(d.capacity(next.on).CPU)
	missing := min(max(0, worst-d.highUse()*has), float64(h.Capacity.CPU))
	away := d.RiskWindow // as far as anything is known of demand
	if missing > 0 {
		away = stable
	}
	away -= shut
	if away <= 0 {
		return false
	}
	gap := d.OnWindow + boot + max(0, shut-stable)
	cpu, memory := missing*gap.Seconds(), 0.0
	for vm, at := range d.where {
		if at != h.ID {
			continue
		}
		mib := float64(d.Memory[vm])
		took := mib / d.Rate
		cpu += 2 * 2 * float64(d.MigrateCPU) * took // away and back, on both ends
		memory += 2 * mib * took                    // it is held twice meanwhile, away and back
	}
	saved := away.Seconds()
	return float64(h.Capacity.CPU)*saved >= d.Factor*cpu && float64(h.Capacity.Memory)*saved >= d.Factor*memory
}

// stable is how long the present demand is expected to last: as long as the demand of the
// whole cluster has not exceeded it, at most the risk window. The present demand is the one
// that counts for off.
func (d *decision) stable() time.Duration {
	level := estimate(d.total(d.OffWindow), d.Deviations)
	series := d.total(d.RiskWindow)
	n := 0
	for n < len(series) && series[len(series)-1-n] <= level+tiny {
		n++
	}
	return time.Duration(n) * Slot
}
