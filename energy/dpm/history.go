package dpm

import (
	"math"
	"slices"
	"time"

	"vjob/cluster"
)

// Slot is the resolution of demand: the maximum of each minute is kept.
const Slot = time.Minute

// History is the recent CPU demand of each VM, so that it follows a VM to another node. The
// demand of departed VMs stays with their last node, since similar VMs tend to recur there. It
// is not safe for concurrent use.
type History struct {
	slots    int
	last     int64 // number of the latest slot
	first    int64 // of the first one since the history began
	started  bool
	vms      map[cluster.VMID]*vmHistory
	departed map[cluster.NodeID][]float64
}

// vmHistory is the demand of one VM.
type vmHistory struct {
	node cluster.NodeID
	ring []int32 // in thousandths of a processor: there are as many as VMs and minutes
	seen int64   // the slot in which it was last seen
}

// NewHistory returns a history of the last span, in slots of a minute.
func NewHistory(span time.Duration) *History {
	return &History{
		slots: max(1, int(span/Slot)), vms: map[cluster.VMID]*vmHistory{}, departed: map[cluster.NodeID][]float64{},
	}
}

// Sample is the present demand of a VM, and its node.
type Sample struct {
	VM   cluster.VMID
	Node cluster.NodeID
	CPU  cluster.MilliCPU
}

// Add adds samples of all VMs that run now. Times must not go back.
func (h *History) Add(now time.Time, samples []Sample) {
	slot := now.UnixNano() / int64(Slot)
	if !h.started {
		h.started, h.first, h.last = true, slot, slot
	}
	h.advance(slot)
	for _, s := range samples {
		t := h.vms[s.VM]
		if t == nil {
			// Without a past, its first demand counts for all of it.
			t = &vmHistory{ring: make([]int32, h.slots)}
			for i := range t.ring {
				t.ring[i] = kept(s.CPU)
			}
			h.vms[s.VM] = t
		}
		at := &t.ring[h.index(slot)]
		if t.seen != slot {
			*at = 0 // the value was carried over from the slot before
		}
		*at = max(*at, kept(s.CPU))
		t.node, t.seen = s.Node, slot
	}
	h.retire(samples)
}

// kept returns a demand as it is kept: more than two million processors count as so many.
func kept(cpu cluster.MilliCPU) int32 { return int32(min(cpu, math.MaxInt32)) }

func (h *History) index(slot int64) int {
	return int(((slot % int64(h.slots)) + int64(h.slots)) % int64(h.slots))
}

// advance begins new slots. Slots without samples repeat the last value.
func (h *History) advance(slot int64) {
	for from := max(h.last, slot-int64(h.slots)); from < slot; from++ {
		for _, t := range h.vms {
			t.ring[h.index(from+1)] = t.ring[h.index(from)]
		}
		for id, ring := range h.departed {
			ring[h.index(from+1)] = 0
			if sum(ring) == 0 {
				delete(h.departed, id)
			}
		}
	}
	h.last = max(h.last, slot)
}

// retire adds the past demand of departed VMs to that of their nodes. The present slot is not
// theirs any more.
func (h *History) retire(samples []Sample) {
	if len(samples) == len(h.vms) {
		return
	}
	live := make(map[cluster.VMID]bool, len(samples))
	for _, s := range samples {
		live[s.VM] = true
	}
	for id, t := range h.vms {
		if live[id] {
			continue
		}
		ring := h.departed[t.node]
		if ring == nil {
			ring = make([]float64, h.slots)
			h.departed[t.node] = ring
		}
		for i, v := range t.ring {
			if i != h.index(h.last) {
				ring[i] += float64(v)
			}
		}
		delete(h.vms, id)
	}
}

// Extremes returns the least and the largest demand of a VM in the history; false for an unknown one.
func (h *History) Extremes(vm cluster.VMID) (least, most cluster.MilliCPU, known bool) {
	t := h.vms[vm]
	if t == nil {
		return 0, 0, false
	}
	return cluster.MilliCPU(slices.Min(t.ring)), cluster.MilliCPU(slices.Max(t.ring)), true
}

// covers reports whether the history spans a window.
func (h *History) covers(window time.Duration) bool {
	return h.started && h.last-h.first >= int64(window/Slot)
}

// add adds the demand of a VM to a series, latest slot last.
func (h *History) add(series []float64, vm cluster.VMID) {
	if t := h.vms[vm]; t != nil {
		addRing(h, series, t.ring, 1)
	}
}

func addRing[T int32 | float64](h *History, series []float64, ring []T, factor float64) {
	for i := range series {
		series[i] += factor * float64(ring[h.index(h.last-int64(len(series)-1-i))])
	}
}

// Demands returns the CPU demand of each VM that counts for switching hosts on: by the window for that.
func (s *Settings) Demands(c *Cluster) map[cluster.VMID]float64 {
	need := make(map[cluster.VMID]float64, len(c.Where))
	for vm := range c.Where {
		series := make([]float64, c.History.slotsOf(s.OnWindow))
		c.History.add(series, vm)
		need[vm] = estimate(series, s.Deviations)
	}
	return need
}

// slotsOf is the number of slots of a window, at most those that are kept.
func (h *History) slotsOf(window time.Duration) int {
	return min(h.slots, max(1, int(window/Slot)))
}

// estimate is the mean of a series plus the given number of standard deviations.
func estimate(series []float64, deviations float64) float64 {
	mean, square := sum(series)/float64(len(series)), 0.0
	for _, v := range series {
		square += (v - mean) * (v - mean)
	}
	return mean + deviations*math.Sqrt(square/float64(len(series)))
}

func sum(series []float64) (s float64) {
	for _, v := range series {
		s += v
	}
	return s
}
