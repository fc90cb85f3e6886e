package solve

import (
	"cmp"
	"math"
	"slices"

	"vjob/repack"
)

// passage is a VM that must cross a link.
type passage struct {
	weight   float64
	occupied float64 // how long it has the whole link for itself, at least
	lasts    float64 // how long it takes at least
	cost     int64   // what that is in the objective
}

// queueing is what it takes at least, beyond what each takes alone, that those who
// must leave a node share its NIC. The mean of the time at which a link carries them
// is least, weighted, in Smith's order, and a transfer of a steady rate ends half
// its length after its mean (Goemans, Improved approximation algorithms for scheduling
// with release dates, SODA 1997, has the relaxation).
func (m *model) queueing() (sum int64) {
	if m.in.Network == nil {
		return 0
	}
	for n, list := range m.leavers() {
		if m.in.Bandwidth(repack.Out(n)) == 0 {
			continue
		}
		slices.SortFunc(list, func(a, b passage) int { return cmp.Compare(a.occupied*b.weight, b.occupied*a.weight) })
		var least, clock float64
		var alone int64
		for _, p := range list {
			least += p.weight * (clock + (p.occupied+p.lasts)/2)
			clock += p.occupied
			alone += p.cost
		}
		sum += max(0, int64(math.Ceil(least-1e-3))-alone)
	}
	return sum
}

// leavers are the VMs that must leave each node over its NIC.
func (m *model) leavers() [][]passage {
	list := make([][]passage, len(m.in.Nodes))
	for _, vm := range m.hot {
		v, h := &m.in.VMs[vm], m.home[vm]
		if h == repack.Nowhere || v.Memory == 0 || m.allows(vm, h) || m.patience(vm) == 0 {
			continue
		}
		p := passage{weight: float64(m.patience(vm)), cost: m.away(vm), lasts: float64(m.soonest(vm, repack.Migrate))}
		dirty := float64(v.Dirty)
		if v.State == repack.Sleeping || m.naps(v) {
			p.lasts = min(p.lasts, float64(m.soonest(vm, repack.Resume)))
			dirty = 0
		}
		if v.Paused || m.moored(vm) {
			dirty = 0
		}
		if out := float64(m.in.Bandwidth(repack.Out(h))); out > dirty {
			p.occupied = float64(v.Memory) / (out - dirty)
		}
		list[h] = append(list[h], p)
	}
	return list
}
