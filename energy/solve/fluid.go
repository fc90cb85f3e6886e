package solve

import (
	"math"
	"slices"

	"vjob/energy"
)

// Fluid is a problem with divisible jobs and nodes. It is not safe for concurrent use.
type Fluid struct {
	nodes   []powerCurve
	demand  float64   // CPU that all jobs can use
	rigid   []float64 // what all jobs need of each rigid resource
	standby float64   // power of all nodes when off, in watts
	most    float64   // the largest yield of all jobs, 0 if the rigid resources are too scarce
	scratch struct {
		rises []segment
		share []float64
	}
}

// NewFluid relaxes a problem. It drops the rules, which weakens the bounds.
func NewFluid(p *energy.Problem) *Fluid {
	f := &Fluid{nodes: powerCurves(p), demand: p.Demand(), standby: float64(p.Standby()), rigid: make([]float64, len(p.Resources))}
	for j := range p.Jobs {
		for r, need := range p.Jobs[j].Need {
			f.rigid[r] += need
		}
	}
	f.most = f.yield(p)
	return f
}

// yield is the largest yield that the capacities allow.
func (f *Fluid) yield(p *energy.Problem) float64 {
	largest, sum := 0.0, 0.0
	room := make([]float64, len(p.Resources))
	for n := range p.Nodes {
		largest = max(largest, p.Nodes[n].CPU)
		sum += p.Nodes[n].CPU
		for r, v := range p.Nodes[n].Capacity {
			room[r] += v
		}
	}
	for r, need := range f.rigid {
		if need > room[r]+energy.Slack*float64(len(p.Nodes)) { // the tolerance of each node
			return 0
		}
		f.rigid[r] = min(need, room[r])
	}
	y := min(1, sum/f.demand)
	for j := range p.Jobs {
		y = min(y, largest/p.Jobs[j].CPU)
	}
	return y
}

// Power returns a lower bound on the power at a yield, and its slope there. It returns false
// if the problem is infeasible.
func (f *Fluid) Power(yield float64) (watts, slope float64, ok bool) {
	if f.most == 0 || yield > f.most+energy.Tolerance {
		return 0, 0, false
	}
	p := f.maximizeDual(min(yield, f.most)*f.demand, f.rigid, nil)
	return p.value + f.standby, p.price * f.demand, true
}

// profits returns for each node how many watts it saves to have it on, at the prices at which
// resources balance at a yield: nodes above 0 are on, and those at 0 may be on in part.
func (f *Fluid) profits(yield float64) []float64 {
	p := f.maximizeDual(min(yield, f.most)*f.demand, f.rigid, nil)
	list := make([]float64, len(f.nodes))
	for n := range f.nodes {
		list[n] = math.Inf(-1)
		for _, at := range f.nodes[n].points {
			list[n] = max(list[n], dot(p.rigid, f.nodes[n].room)+p.price*at.cpu-at.power)
		}
	}
	return list
}

// maximizeDual maximises the dual: the prices of the first resources are given, the others are
// searched, one within the other. The best price of the last one balances its use and its
// need, for the best prices of the rest.
func (f *Fluid) maximizeDual(cpu float64, need, prices []float64) dualPoint {
	d := len(prices)
	if d == len(f.nodes[0].room) {
		return f.evaluate(cpu, prices)
	}
	at := func(price float64) tangent {
		p := f.maximizeDual(cpu, need, append(slices.Clone(prices), price))
		p.value += price * need[d]
		return tangent{p, price, need[d] - p.used[d]}
	}
	low := at(0)
	if low.slope <= 0 {
		return low.dualPoint
	}
	high := at(1)
	for high.slope > 0 && high.at < 1e15 {
		low, high = high, at(high.at*8)
	}
	return maximize(low, high, at)
}

// tangent is a dual point at a price, and the slope of the value there.
type tangent struct {
	dualPoint
	at, slope float64
}

// maximize finds the maximum of a concave function that rises at low and does not at high. It
// evaluates where the tangents meet, until they meet at the function itself.
func maximize(low, high tangent, at func(price float64) tangent) dualPoint {
	for range 100 {
		if high.slope == 0 {
			return high.dualPoint
		}
		meet := (high.value - low.value + low.slope*low.at - high.slope*high.at) / (low.slope - high.slope)
		top := low.value + low.slope*(meet-low.at)
		next := at(meet)
		if top-next.value <= 1e-11*(1+math.Abs(top)) {
			next.used = combine(low, high).used // both tangents touch the maximum
			return next.dualPoint
		}
		if next.slope > 0 {
			low = next
		} else {
			high = next
		}
	}
	return combine(low, high)
}

// combine is the dual point between two tangents that uses exactly what is needed.
func combine(low, high tangent) dualPoint {
	best, share := low.dualPoint, low.slope/(low.slope-high.slope)
	if high.value > low.value {
		best = high.dualPoint
	}
	used := make([]float64, len(best.used))
	for r := range used {
		used[r] = (1-share)*low.used[r] + share*high.used[r]
	}
	best.used = used
	return best
}
