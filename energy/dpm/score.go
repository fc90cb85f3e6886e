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
	ID       cluster.NodeID
	Capacity cluster.Resources
	State    State
	Since    time.Time // when it came up
	Fixed    string    // why it stays as it is; "": it may be switched
	Power    energy.Power
}

// State is how far a host is.
type State uint8

// The states.
const (
	On     State = iota
	Coming       // it was switched on and does not answer yet
	Away         // off, or about to be
)

// Cluster is what a decision is about.
type Cluster struct {
	Now    time.Time
	Hosts  []Host // in order of their names
	Where  Placement
	Memory map[cluster.VMID]cluster.MiB
	Past   *History
	// Waits says that somebody waits who could run if there were more room: nothing
	// goes off then.
	Waits bool
}

// Placement is where VMs are.
type Placement map[cluster.VMID]cluster.NodeID

// WhatIf tells where the VMs would be after they were balanced over these hosts, coming
// from elsewhere; false when they find no room there, or rules forbid it.
type WhatIf func(on []cluster.NodeID, from Placement) (Placement, bool)

// Score is how far hosts are from the range, for one resource each: eq. 5 and 6.
type Score struct{ CPU, Memory float64 }

// positive is whether either is more than zero.
func (s Score) positive() bool { return s.CPU > 0 || s.Memory > 0 }

// exceeds reports whether either is more than that of another score.
func (s Score) exceeds(o Score) bool { return s.CPU > o.CPU+tiny || s.Memory > o.Memory+tiny }

// tiny is what sums of floating-point numbers may differ by.
const tiny = 1e-9

// Scores are those of the hosts on which a placement puts VMs.
type Scores struct{ High, Low Score }

// Scores rates a placement on hosts that are on: utilisation above the range by the
// recent past that counts for on, below it by the one that counts for off.
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

// square is the square of a distance, and 0 for one that is none.
func square(distance float64) float64 {
	if distance <= tiny {
		return 0
	}
	return distance * distance
}

// series is the demand on each host over a window. What has gone from hosts that are not
// on counts on the others, by their size: it would come there.
func (c *Cluster) series(on []cluster.NodeID, where Placement, window time.Duration) map[cluster.NodeID][]float64 {
	n := c.Past.slotsOf(window)
	list := make(map[cluster.NodeID][]float64, len(on))
	for _, id := range on {
		list[id] = make([]float64, n)
	}
	for _, vm := range slices.SortedFunc(maps.Keys(where), cluster.VMID.Compare) { // sums depend on the order
		if s, ok := list[where[vm]]; ok {
			c.Past.add(s, vm)
		}
	}
	all := c.capacity(on)
	for _, id := range slices.Sorted(maps.Keys(c.Past.departed)) {
		ring := c.Past.departed[id]
		if s, ok := list[id]; ok {
			c.Past.addRing(s, ring, 1)
			continue
		}
		for _, h := range c.Hosts {
			if s, ok := list[h.ID]; ok {
				c.Past.addRing(s, ring, float64(h.Capacity.CPU)/float64(all.CPU))
			}
		}
	}
	return list
}

// total is the demand for CPU of the whole cluster over a window.
func (c *Cluster) total(window time.Duration) []float64 {
	series := make([]float64, c.Past.slotsOf(window))
	for _, vm := range slices.SortedFunc(maps.Keys(c.Where), cluster.VMID.Compare) {
		c.Past.add(series, vm)
	}
	for _, id := range slices.Sorted(maps.Keys(c.Past.departed)) {
		c.Past.addRing(series, c.Past.departed[id], 1)
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
