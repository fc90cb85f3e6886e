package solve

import (
	"cmp"
	"slices"

	"vjob/energy"
)

// powerCurve is the power of a node by the CPU it gives.
type powerCurve struct {
	room   []float64 // of each rigid resource
	points []point   // the lower hull of its power over its load: convex, idle first
}

type point struct{ cpu, power float64 }

// powerCurves returns those of all nodes, without the power of nodes that are off.
func powerCurves(p *energy.Problem) []powerCurve {
	list := make([]powerCurve, len(p.Nodes))
	for n := range p.Nodes {
		node := &p.Nodes[n]
		list[n].room = node.Capacity
		for _, m := range node.Power.Curve() {
			list[n].add(point{m.Load * node.CPU, float64(m.Power - node.Power.Standby)})
		}
	}
	return list
}

// add appends a point to the hull and drops those that are above the line to it.
func (o *powerCurve) add(p point) {
	for k := len(o.points); k >= 2; k-- {
		a, b := o.points[k-2], o.points[k-1]
		if (b.power-a.power)*(p.cpu-a.cpu) < (p.power-a.power)*(b.cpu-a.cpu) {
			break
		}
		o.points = o.points[:k-1]
	}
	o.points = append(o.points, p)
}

// segment is a price of CPU from which on a node gives more of it.
type segment struct {
	price, cpu float64
	node       int
	opens      bool // below that price the node is off
}

// segments appends what the node gives as the price of CPU rises, if its rigid resources have
// the given worth. It returns whether the node is on at any price.
func (o *powerCurve) segments(node int, worth float64, list []segment) (_ []segment, on bool) {
	first := 0
	if on = worth >= o.points[0].power; !on {
		r := segment{node: node, opens: true}
		for k, p := range o.points[1:] {
			if price := (p.power - worth) / p.cpu; first == 0 || price < r.price {
				first, r.price, r.cpu = k+1, price, p.cpu
			}
		}
		list = append(list, r)
	}
	for k := first + 1; k < len(o.points); k++ {
		a, b := o.points[k-1], o.points[k]
		list = append(list, segment{price: (b.power - a.power) / (b.cpu - a.cpu), cpu: b.cpu - a.cpu, node: node})
	}
	return list, on
}

func byPrice(a, b segment) int {
	return cmp.Or(cmp.Compare(a.price, b.price), cmp.Compare(a.node, b.node))
}

// dualPoint is the best response of the nodes to prices.
type dualPoint struct {
	value float64   // of the dual: a lower bound on power
	price float64   // of CPU: the slope of the bound over demand
	used  []float64 // of each resource, by the nodes that are on
	rigid []float64 // the prices of the rigid resources
}

// evaluate returns the dual point for a CPU demand and prices of the rigid resources. The need
// of the rigid ones is not counted yet.
func (f *Fluid) evaluate(cpu float64, prices []float64) dualPoint {
	s := &f.scratch
	s.rises = s.rises[:0]
	s.share = slices.Grow(s.share[:0], len(f.nodes))[:len(f.nodes)]
	for n := range f.nodes {
		o := &f.nodes[n]
		var on bool
		s.rises, on = o.segments(n, dot(prices, o.room), s.rises)
		s.share[n] = 0
		if on {
			s.share[n] = 1
		}
	}
	slices.SortFunc(s.rises, byPrice)
	p := dualPoint{used: make([]float64, len(prices)), rigid: slices.Clone(prices)}
	left := cpu
	for _, r := range s.rises {
		if left <= 0 {
			break
		}
		p.price = r.price
		if r.opens {
			s.share[r.node] = min(1, left/r.cpu)
		}
		left -= r.cpu
	}
	p.value = p.price * cpu
	for n := range f.nodes {
		o := &f.nodes[n]
		p.value -= o.profit(p.price, dot(prices, o.room))
		for d, room := range o.room {
			p.used[d] += s.share[n] * room
		}
	}
	return p
}

// profit is the largest profit of a node at prices.
func (o *powerCurve) profit(price, worth float64) float64 {
	most := 0.0
	for _, p := range o.points {
		most = max(most, worth+price*p.cpu-p.power)
	}
	return most
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
