package simulated

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// updateShares updates the CPU of the running guests of a node.
func (g *guests) updateShares(n *node) {
	before, beforeDen := n.yield()
	granted := n.granted
	n.demand = 0
	for _, m := range n.copies {
		if m.State == hypervisor.CopyRunning {
			n.demand += m.cappedDemand()
		}
	}
	n.granted = n.divide()
	if num, den := n.yield(); num == before && den == beforeDen && maps.Equal(n.granted, granted) {
		return
	}
	for _, m := range n.sortedCopies() {
		if m.State != hypervisor.CopyRunning {
			continue
		}
		if m.lockstep() {
			g.markApp(g.app(m))
		} else {
			g.updateRate(m)
		}
	}
}

// divide divides the CPU of the node by weight among its running guests if their weights differ and
// they demand more than there is; otherwise it returns nil. In the order of demand by weight each
// gets its weighted part of what is left, and at most its demand under its cap. No guest starves.
func (n *node) divide() map[cluster.VMID]cluster.MilliCPU {
	if n.demand <= n.Capacity.CPU || !n.weighted() {
		return nil
	}
	var running []*machine
	weights := int64(0)
	for _, m := range n.sortedCopies() {
		if m.competes() {
			running, weights = append(running, m), weights+int64(m.weight())
		}
	}
	slices.SortStableFunc(running, func(a, b *machine) int {
		return cmp.Compare(int64(a.cappedDemand())*int64(b.weight()), int64(b.cappedDemand())*int64(a.weight()))
	})
	granted, left := map[cluster.VMID]cluster.MilliCPU{}, n.Capacity.CPU
	for _, m := range running {
		part := cluster.MilliCPU(int64(left) * int64(m.weight()) / weights)
		part = max(1, min(part, m.cappedDemand()))
		granted[m.VM] = part
		left, weights = max(0, left-part), weights-int64(m.weight())
	}
	return granted
}

// weighted reports whether guests that compete for the CPU of the node have different weights.
func (n *node) weighted() bool {
	weight := 0
	for _, m := range n.copies {
		if !m.competes() {
			continue
		}
		if weight != 0 && m.weight() != weight {
			return true
		}
		weight = m.weight()
	}
	return false
}

// satisfies reports whether a running guest gets the CPU that it demands, up to its cap.
func (n *node) satisfies(m *machine) bool {
	if granted, divided := n.granted[m.VM]; divided {
		return granted >= m.cappedDemand()
	}
	return n.demand <= n.Capacity.CPU
}

// shareOf is the speed of a guest with CPU demand: what its node grants it, or under its cap at the
// yield of its node.
func (g *guests) shareOf(m *machine) (num, den int64) {
	n := g.nodes.of(m)
	if granted, divided := n.granted[m.VM]; divided {
		return int64(min(granted, m.Demand)), int64(m.Demand)
	}
	num, den = n.yield()
	if capped := m.cappedDemand(); capped < m.Demand {
		num, den = num*int64(capped), den*int64(m.Demand)
	}
	return num, den
}

// scale is d·num/den, rounded down, without overflow.
func scale(d time.Duration, num, den int64) time.Duration {
	if num == den {
		return d
	}
	hi, lo := bits.Mul64(uint64(d), uint64(num))
	quotient, _ := bits.Div64(hi, lo, uint64(den))
	return time.Duration(quotient)
}

// endless is more time than any simulation lasts.
const endless = 1 << 60 * time.Nanosecond

// scaleUp is d·num/den, rounded up, without overflow: at most endless.
func scaleUp(d time.Duration, num, den int64) time.Duration {
	if d <= 0 || num == den {
		return max(d, 0)
	}
	hi, lo := bits.Mul64(uint64(d), uint64(num))
	if hi >= uint64(den) {
		return endless
	}
	quotient, rest := bits.Div64(hi, lo, uint64(den))
	if rest > 0 {
		quotient++
	}
	return time.Duration(min(quotient, uint64(endless)))
}
