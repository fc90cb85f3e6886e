package dpm

import (
	"maps"
	"math"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy"
)

// Host is one node.
type Host struct {
	ID          cluster.NodeID
	Capacity    cluster.Resources
	State       PowerState
	Since       time.Time // when it came up
	FixedReason string    // why it may not be switched; "" if it may
	Power       energy.Power
}

// PowerState is the power state of a host.
type PowerState uint8

// The states.
const (
	On     PowerState = iota
	Coming            // switched on, does not answer yet
	Off               // off, or about to be
)

// Cluster is the input of a decision.
type Cluster struct {
	Now     time.Time
	Hosts   []Host // sorted by ID
	Where   Placement
	Memory  map[cluster.VMID]cluster.MiB
	History *History
	// JobsWait is true if a job waits for capacity: no host goes off then.
	JobsWait bool
}

// Placement is the host of each VM.
type Placement map[cluster.VMID]cluster.NodeID

// Rebalance returns where VMs would be after balancing over the given hosts, starting from a
// placement. It returns false if they do not fit or rules forbid it.
type Rebalance func(on []cluster.NodeID, from Placement) (Placement, bool)

// Score is the distance of hosts from the target range by resource: eq. 5 and 6.
type Score struct{ CPU, Memory float64 }

// positive reports whether either part is above zero.
func (s Score) positive() bool { return s.CPU > 0 || s.Memory > 0 }

// exceeds reports whether either part is larger than in another score.
func (s Score) exceeds(o Score) bool { return s.CPU > o.CPU+tiny || s.Memory > o.Memory+tiny }

// tiny is the tolerance of floating-point sums.
const tiny = 1e-9

// Scores are the distances above and below the target range.
type Scores struct{ High, Low Score }

// Scores rates a placement on hosts that are on: utilisation above the range by the window for
// on, below it by the window for off.
func (s *Settings) Scores(c *Cluster, on []cluster.NodeID, where Placement) (r Scores) {
	memory := c.memoryOn(where)
	for _, side := range []struct {
		window time.Duration
		add    func(cpu, memory float64)
	}{
		{s.OnWindow, func(cpu, memory float64) {
			r.High.CPU += square(cpu - s.highUse())
			r.High.Memory += square(memory - s.highUse())
		}},
		{s.OffWindow, func(cpu, memory float64) {
			r.Low.CPU += square(s.lowUse() - cpu)
			r.Low.Memory += square(s.lowUse() - memory)
		}},
	} {
		series := c.series(on, where, side.window)
		for _, h := range c.Hosts {
			if _, among := slices.BinarySearch(on, h.ID); among {
				side.add(estimate(series[h.ID], s.Deviations)/float64(h.Capacity.CPU), float64(memory[h.ID])/float64(h.Capacity.Memory))
			}
		}
	}
	for _, v := range []*float64{&r.High.CPU, &r.High.Memory, &r.Low.CPU, &r.Low.Memory} {
		*v = math.Sqrt(*v)
	}
	return r
}

// square returns the square of a positive distance, else 0.
func square(distance float64) float64 {
	if distance <= tiny {
		return 0
	}
	return distance * distance
}

// series returns the demand on each host over a window. The demand of departed VMs of hosts
// that are off is spread over the others by size, where it would recur.
func (c *Cluster) series(on []cluster.NodeID, where Placement, window time.Duration) map[cluster.NodeID][]float64 {
	n := c.History.slotsOf(window)
	list := make(map[cluster.NodeID][]float64, len(on))
	for _, id := range on {
		list[id] = make([]float64, n)
	}
	for _, vm := range slices.SortedFunc(maps.Keys(where), cluster.VMID.Compare) { // sums depend on the order
		if s, ok := list[where[vm]]; ok {
			c.History.add(s, vm)
		}
	}
	all := c.capacity(on)
	for _, id := range slices.Sorted(maps.Keys(c.History.departed)) {
		ring := c.History.departed[id]
		if s, ok := list[id]; ok {
			addRing(c.History, s, ring, 1)
			continue
		}
		for _, h := range c.Hosts {
			if s, ok := list[h.ID]; ok {
				addRing(c.History, s, ring, float64(h.Capacity.CPU)/float64(all.CPU))
			}
		}
	}
	return list
}

// total is the CPU demand of the whole cluster over a window.
func (c *Cluster) total(window time.Duration) []float64 {
	series := make([]float64, c.History.slotsOf(window))
	for _, vm := range slices.SortedFunc(maps.Keys(c.Where), cluster.VMID.Compare) {
		c.History.add(series, vm)
	}
	for _, id := range slices.Sorted(maps.Keys(c.History.departed)) {
		addRing(c.History, series, c.History.departed[id], 1)
	}
	return series
}

func (c *Cluster) memoryOn(where Placement) map[cluster.NodeID]cluster.MiB {
	list := map[cluster.NodeID]cluster.MiB{}
	for vm, id := range where {
		list[id] += c.Memory[vm]
	}
	return list
}

func (c *Cluster) capacity(on []cluster.NodeID) (all cluster.Resources) {
	for _, h := range c.Hosts {
		if _, among := slices.BinarySearch(on, h.ID); among {
			all = all.Plus(h.Capacity)
		}
	}
	return all
}
