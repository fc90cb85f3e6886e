package simulated

import (
	"math/bits"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// yield is the share of its demand that each running guest of the node gets: all, or a
// proportional share of the node's capacity.
func (n *node) yield() (num, den int64) {
	if n.demand <= n.Capacity.CPU {
		return 1, 1
	}
	return int64(n.Capacity.CPU), int64(n.demand)
}

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

// cappedDemand is the CPU that a guest would use: its demand, up to its cap.
func (m *machine) cappedDemand() cluster.MilliCPU {
	if m.Cap > 0 {
		return min(m.Demand, m.Cap)
	}
	return m.Demand
}

// shareOf is the speed of a guest with CPU demand: under its cap, and at the yield of its node.
func (g *guests) shareOf(m *machine) (num, den int64) {
	num, den = g.nodes.byID[m.Node].yield()
	if w := m.cappedDemand(); w < m.Demand {
		num, den = num*int64(w), den*int64(m.Demand)
	}
	return num, den
}

// updateLockstep sets the speed of a lockstep application. It progresses while every member runs
// on a node that is not overloaded, at the speed of the member with the tightest cap.
func (g *guests) updateLockstep(a *app) {
	level := true
	num, den := int64(1), int64(1)
	var running []*machine
	for rank := range a.Members {
		satisfied := false
		for _, m := range g.nodes.copies[cluster.VMID{VJob: a.Key.VJob, Rank: rank}] {
			if m.Memory.Stamp.Incarnation != a.Key.Incarnation || m.State != hypervisor.CopyRunning {
				continue
			}
			running = append(running, m)
			n := g.nodes.byID[m.Node]
			satisfied = m.Memory.Stage == working && (m.Demand == 0 || n.demand <= n.Capacity.CPU)
			if w := m.cappedDemand(); int64(w)*den < num*int64(m.Demand) {
				num, den = int64(w), int64(m.Demand)
			}
		}
		level = level && satisfied
	}
	if pn, pd := a.speed(); level == a.Advancing && num*pd == pn*den {
		return
	}
	a.Advancing, a.Num, a.Den = level, num, den
	for _, m := range running {
		g.updateRate(m)
	}
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
