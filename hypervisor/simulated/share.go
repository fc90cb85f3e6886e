package simulated

import (
	"math/bits"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// yield is the share of what it would use that each running guest of the node gets:
// all of it, or the node's capacity in proportion.
func (h *host) yield() (num, den int64) {
	if h.load <= h.Capacity.CPU {
		return 1, 1
	}
	return int64(h.Capacity.CPU), int64(h.load)
}

// share computes what the running guests of a node get.
func (c *Cluster) share(h *host) {
	before, beforeDen := h.yield()
	h.load = 0
	for _, m := range h.copies {
		if m.State == hypervisor.CopyRunning {
			h.load += m.wants()
		}
	}
	if num, den := h.yield(); num == before && den == beforeDen {
		return
	}
	for _, m := range h.sorted() {
		if m.State != hypervisor.CopyRunning {
			continue
		}
		if m.lockstep() {
			c.markApp(c.app(m))
		} else {
			c.repace(m)
		}
	}
}

// wants is the CPU that a guest would use: what it needs, up to its cap.
func (m *machine) wants() cluster.MilliCPU {
	if m.Cap > 0 {
		return min(m.Need, m.Cap)
	}
	return m.Need
}

// shareOf is how fast a guest goes on that needs CPU: under its cap, and at the yield of
// its node.
func (c *Cluster) shareOf(m *machine) (num, den int64) {
	num, den = c.hosts[m.Node].yield()
	if w := m.wants(); w < m.Need {
		num, den = num*int64(w), den*int64(m.Need)
	}
	return num, den
}

// align sets the progress clock of a lockstep application: it goes on while every
// member runs and its node has what it would use, as fast as the one whose cap is the
// tightest.
func (c *Cluster) align(a *app) {
	level := true
	num, den := int64(1), int64(1)
	var running []*machine
	for rank := range a.Members {
		satisfied := false
		for _, m := range c.where[cluster.VMID{VJob: a.Key.VJob, Rank: rank}] {
			if m.Mem.Stamp.Incarnation != a.Key.Incarnation || m.State != hypervisor.CopyRunning {
				continue
			}
			running = append(running, m)
			h := c.hosts[m.Node]
			satisfied = m.Mem.Stage == working && (m.Need == 0 || h.load <= h.Capacity.CPU)
			if w := m.wants(); int64(w)*den < num*int64(m.Need) {
				num, den = int64(w), int64(m.Need)
			}
		}
		level = level && satisfied
	}
	if pn, pd := a.speed(); level == a.Level && num*pd == pn*den {
		return
	}
	a.Level, a.Num, a.Den = level, num, den
	for _, m := range running {
		c.repace(m)
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
