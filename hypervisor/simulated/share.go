package simulated

import (
	"math/bits"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// yield is the share of its need that each running guest of the node gets: all
// of it, or the node's capacity in proportion to the needs.
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
			h.load += m.Need
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

// align sets the progress clock of a lockstep application: it goes on while
// every member runs and every active one is satisfied.
func (c *Cluster) align(a *app) {
	level := true
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
		}
		level = level && satisfied
	}
	if level == a.Level {
		return
	}
	a.Level = level
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
