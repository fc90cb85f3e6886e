package simulated

import (
	"math/bits"
	"time"

	"vjob/hypervisor"
)

// updateShares updates the CPU of the running guests of a node.
func (g *guests) updateShares(n *node) {
	before, beforeDen := n.yield()
	n.demand = 0
	for _, m := range n.copies {
		if m.State == hypervisor.CopyRunning {
			n.demand += m.cappedDemand()
		}
	}
	if num, den := n.yield(); num == before && den == beforeDen {
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

// shareOf is the speed of a guest with CPU demand: under its cap, and at the yield of its node.
func (g *guests) shareOf(m *machine) (num, den int64) {
	num, den = g.nodes.of(m).yield()
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

// scaleUp is d·num/den, rounded up, without overflow.
func scaleUp(d time.Duration, num, den int64) time.Duration {
	if d <= 0 || num == den {
		return max(d, 0)
	}
	hi, lo := bits.Mul64(uint64(d), uint64(num))
	quotient, rest := bits.Div64(hi, lo, uint64(den))
	if rest > 0 {
		quotient++
	}
	return time.Duration(quotient)
}
