package proof

import (
	"cmp"
	"math"
	"slices"

	"vjob/repack"
)

// crossing is a VM that must cross a link.
type crossing struct {
	vm            int
	weight        float64
	memory, dirty float64
	lasts         float64 // the least duration
	cost          int64   // alone, in the objective
}

// linkWaits returns the least cost, beyond that of each VM alone, of VMs sharing the NIC of
// the node that they must leave, or the uplink of the rack.
func (m *Bounds) linkWaits() (sum int64) {
	if m.In.Network == nil {
		return 0
	}
	leavers := m.leavers()
	racks := make([]int64, len(m.In.Network.Uplink))
	for n, list := range leavers {
		share := m.smithBound(list, m.In.Bandwidth(repack.Out(n)))
		if r := m.In.Nodes[n].Rack; r < len(racks) {
			racks[r] += share
		} else {
			sum += share
		}
	}
	for r, share := range racks {
		sum += max(share, m.smithBound(m.rackLeavers(r, leavers), m.In.Network.Uplink[r]))
	}
	return sum
}

// smithBound returns the least cost, beyond that of each VM alone, of VMs sharing one link.
// The weighted mean of the times at which the link carries them is least in Smith's order, and
// a transfer at a steady rate ends half its length after its mean (Goemans, Improved
// approximation algorithms for scheduling with release dates, SODA 1997, has the relaxation).
func (m *Bounds) smithBound(list []crossing, bandwidth int64) int64 {
	if bandwidth == 0 || len(list) == 0 {
		return 0
	}
	slices.SortFunc(list, func(a, b crossing) int {
		return cmp.Compare(a.occupies(bandwidth)*b.weight, b.occupies(bandwidth)*a.weight)
	})
	var least, clock float64
	var alone int64
	for _, p := range list {
		occupied := p.occupies(bandwidth)
		least += p.weight * (clock + (occupied+max(occupied, p.lasts))/2)
		clock += occupied
		alone += p.cost
	}
	return max(0, int64(math.Ceil(least-1e-3))-alone)
}

// occupies returns the least time for which a VM fills a whole link.
func (p *crossing) occupies(bandwidth int64) float64 {
	if rate := float64(bandwidth) - p.dirty; rate > 0 {
		return p.memory / rate
	}
	return p.memory / float64(bandwidth) // it goes another way, or not at all
}

// rackLeavers returns the leavers that have no place in their rack.
func (m *Bounds) rackLeavers(rack int, leavers [][]crossing) (list []crossing) {
	if m.In.Network.Uplink[rack] == 0 {
		return nil
	}
	var nodes []int
	for n := range m.In.Nodes {
		if m.In.Nodes[n].Rack == rack {
			nodes = append(nodes, n)
		}
	}
	for _, n := range nodes {
		for _, p := range leavers[n] {
			if !slices.ContainsFunc(nodes, func(other int) bool { return m.Allows(p.vm, other) }) {
				p.lasts = 0 // it may cross from a node with a wider NIC
				list = append(list, p)
			}
		}
	}
	return list
}

// leavers returns the VMs that must leave each node.
func (m *Bounds) leavers() [][]crossing {
	list := make([][]crossing, len(m.In.Nodes))
	for _, vm := range m.Wanted {
		v, h := &m.In.VMs[vm], m.Home[vm]
		if h == repack.Nowhere || v.Memory == 0 || m.Allows(vm, h) || m.WaitCost(vm) == 0 {
			continue
		}
		p := crossing{
			vm: vm, weight: float64(m.WaitCost(vm)), cost: m.minAway(vm), lasts: float64(m.MinDuration(vm, repack.Migrate)),
			memory: float64(v.Memory), dirty: float64(v.Dirty),
		}
		if v.State == repack.Sleeping || m.Suspendable(v) {
			p.lasts = min(p.lasts, float64(m.MinDuration(vm, repack.Resume)))
			p.dirty = 0
		}
		if v.Paused {
			p.dirty = 0
		}
		list[h] = append(list[h], p)
	}
	return list
}
