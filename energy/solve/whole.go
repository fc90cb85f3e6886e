package solve

import (
	"cmp"
	"math"
	"slices"

	"vjob/energy"
)

// Whole is a problem with divisible jobs on nodes that are either on or off. It is not safe
// for concurrent use.
type Whole struct {
	fluid   *Fluid
	problem *energy.Problem
	alike   bool // all nodes have the same capacities and linear power
	bySlope []int
	counted *Fluid // fluid, with "a node" as one more rigid resource
	largest [][]float64
}

// NewWhole relaxes the jobs of a problem, but not its nodes.
func NewWhole(p *energy.Problem) *Whole {
	w := &Whole{fluid: NewFluid(p), problem: p, alike: true}
	for n := range p.Nodes {
		node, first := &p.Nodes[n], &p.Nodes[0]
		w.alike = w.alike && node.CPU == first.CPU && slices.Equal(node.Capacity, first.Capacity) && len(node.Power.Measured) == 0
		w.bySlope = append(w.bySlope, n)
	}
	slices.SortStableFunc(w.bySlope, func(a, b int) int { return cmp.Compare(w.slope(a), w.slope(b)) })
	w.counted = NewFluid(p)
	for n := range w.counted.nodes {
		w.counted.nodes[n].room = append(slices.Clone(p.Nodes[n].Capacity), 1)
	}
	w.sort()
	return w
}

func (w *Whole) slope(n int) energy.Watts {
	return w.problem.Nodes[n].Power.Full - w.problem.Nodes[n].Power.Idle
}

// sort lists for each resource the capacities in descending order, CPU last.
func (w *Whole) sort() {
	for r := range len(w.problem.Resources) + 1 {
		var list []float64
		for n := range w.problem.Nodes {
			node := &w.problem.Nodes[n]
			list = append(list, append(slices.Clone(node.Capacity), node.CPU)[r])
		}
		slices.SortFunc(list, func(a, b float64) int { return cmp.Compare(b, a) })
		w.largest = append(w.largest, list)
	}
}

// count returns a lower bound on the number of nodes at a yield.
func (w *Whole) count(yield float64) int {
	most := 1
	for r, list := range w.largest {
		left := yield * w.fluid.demand
		if r < len(w.fluid.rigid) {
			left = w.fluid.rigid[r]
		}
		count := 0
		for count < len(list) && left > energy.Slack*float64(count) {
			left -= list[count]
			count++
		}
		most = max(most, count)
	}
	return most
}

// most bounds the least yield of any allocation.
func (w *Whole) most() float64 { return w.fluid.most }

// Power returns a lower bound on the power at a yield. It returns false if the problem is
// infeasible.
func (w *Whole) Power(yield float64) (watts float64, ok bool) {
	if w.fluid.most == 0 || yield > w.fluid.most+energy.Tolerance {
		return 0, false
	}
	yield = min(yield, w.fluid.most)
	count := w.count(yield)
	if w.alike {
		return w.powerOf(count, yield), true
	}
	need := append(slices.Clone(w.fluid.rigid), float64(count))
	return w.counted.maximizeDual(yield*w.fluid.demand, need, nil).value + w.fluid.standby, true
}

// profits are those of divisible nodes, see [Fluid.profits].
func (w *Whole) profits(yield float64) []float64 { return w.fluid.profits(yield) }

// powerOf bounds the power at a yield with the given number of nodes on, which must suffice.
// If nodes are not alike, the number is ignored.
func (w *Whole) powerOf(count int, yield float64) (watts float64) {
	cpu := yield * w.fluid.demand
	if w.alike {
		return w.leastPower(cpu, count) + w.fluid.standby
	}
	return w.fluid.maximizeDual(cpu, w.fluid.rigid, nil).value + w.fluid.standby
}

// leastPower is the least power of the given number of nodes that are alike: some are full, at
// most one is in part, the others idle. In the order of their slopes the full ones come first
// and the idle ones last, so for every choice of the one in part the cheapest of each kind are
// taken.
func (w *Whole) leastPower(cpu float64, count int) float64 {
	capacity := w.problem.Nodes[0].CPU
	full := min(int((cpu+energy.Slack)/capacity), count)
	part := max(0, cpu-float64(full)*capacity)
	if full == count {
		part = 0
	}
	idle := count - full - 1
	power := func(n int) *energy.Power { return &w.problem.Nodes[n].Power }
	before := w.cheapest(w.bySlope, full, func(n int) float64 { return float64(power(n).Full - power(n).Standby) })
	if idle < 0 {
		return before[len(w.bySlope)]
	}
	reversed := slices.Clone(w.bySlope)
	slices.Reverse(reversed)
	after := w.cheapest(reversed, idle, func(n int) float64 { return float64(power(n).Idle - power(n).Standby) })
	best := math.Inf(1)
	for i, n := range w.bySlope {
		own := float64(power(n).Idle-power(n).Standby) + part/capacity*float64(w.slope(n))
		best = min(best, before[i]+own+after[len(w.bySlope)-1-i])
	}
	return best
}

// cheapest returns for each i the sum of the k smallest costs among the first i nodes.
func (*Whole) cheapest(order []int, k int, cost func(node int) float64) []float64 {
	sums := make([]float64, len(order)+1)
	var kept maxHeap
	sum := 0.0
	for i := range sums {
		sums[i] = sum
		if len(kept) < k {
			sums[i] = math.Inf(1)
		}
		if i == len(order) {
			break
		}
		sum += kept.add(cost(order[i]), k)
	}
	return sums
}

// maxHeap has the largest element at the top.
type maxHeap []float64

// add keeps a cost if it is among the k smallest, and returns by how much their sum changes.
func (d *maxHeap) add(cost float64, k int) (more float64) {
	h := *d
	switch {
	case len(h) < k:
		h = append(h, cost)
		for i := len(h) - 1; i > 0 && h[(i-1)/2] < h[i]; i = (i - 1) / 2 {
			h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		}
		*d = h
		return cost
	case k == 0 || cost >= h[0]:
		return 0
	}
	more = cost - h[0]
	h[0] = cost
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < k && h[child+1] > h[child] {
			child++
		}
		if child >= k || h[child] <= h[i] {
			return more
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
