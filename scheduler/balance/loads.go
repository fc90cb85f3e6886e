package balance

import (
	"math"
	"slices"
)

// loads are the loads of the nodes, and the imbalance that follows from them.
type loads struct {
	resources []Resource // that count
	weight    [kinds]float64
	nodes     []loaded
	counted   int            // nodes of which the load counts
	sharing   [kinds]float64 // of them, those of which the capacity is limited
	mean      [kinds]float64
	variance  [kinds]float64
	sigma     [kinds]float64
	average   [kinds]float64 // capacity of a node that is sharing
}

// loaded is the load of one node.
type loaded struct {
	entitlement, capacity Amounts
	leaving               bool // the load does not count
	deviation             [kinds]float64
	corner                corner
}

// corner is what the gain of a move depends on, at one of its ends. Of several nodes it is the least of each value,
// so that the gain is never less than that to any of them.
type corner struct {
	inverse [kinds]float64 // of the capacity
	pull    [kinds]float64 // deviation of the load from the mean over the capacity
}

// newLoads returns the loads of nodes without VMs.
func newLoads(s *Settings, nodes []Node) loads {
	l := loads{nodes: make([]loaded, len(nodes))}
	for i := range nodes {
		n := &l.nodes[i]
		n.capacity, n.leaving = nodes[i].Capacity, nodes[i].Leaving
		for r, has := range n.capacity {
			if has > 0 && has != Unlimited {
				n.corner.inverse[r] = 1 / float64(has)
			}
		}
		if n.leaving {
			continue
		}
		l.counted++
		for r, has := range n.capacity {
			if has != Unlimited {
				l.average[r] += float64(has)
				l.sharing[r]++
			}
		}
	}
	for r := range kinds {
		l.average[r] /= max(1, l.sharing[r])
		if l.average[r] > 0 && s.Weights[r] > 0 {
			l.resources = append(l.resources, r)
		}
	}
	return l
}

// add adds a unit to a node, or with sign -1 takes it away. What follows from the loads is computed by refresh.
func (l *loads) add(i int, u *unit, sign int64) {
	n := &l.nodes[i]
	for r := range n.entitlement {
		n.entitlement[r] += sign * u.entitlement[r]
	}
}

// balances reports whether a resource counts.
func (l *loads) balances(r Resource) bool { return slices.Contains(l.resources, r) }

// load is the normalised entitlement of a node, N_h (§3.1.1).
func (l *loads) load(i int, r Resource) float64 {
	return float64(l.nodes[i].entitlement[r]) * l.nodes[i].corner.inverse[r]
}

// all is the load of a node by resource.
func (l *loads) all(i int) (of [kinds]float64) {
	for _, r := range l.resources {
		of[r] = l.load(i, r)
	}
	return of
}

// excess is the load of a node above the mean, by the weights of the resources.
func (l *loads) excess(i int) (sum float64) {
	for _, r := range l.resources {
		sum += l.weight[r] * l.nodes[i].deviation[r]
	}
	return sum
}

// hot reports whether a node is over its capacity.
func (l *loads) hot(i int) bool {
	for _, r := range l.resources {
		if l.nodes[i].entitlement[r] > l.nodes[i].capacity[r] {
			return true
		}
	}
	return false
}

// anyHot reports whether a node that counts is over its capacity.
func (l *loads) anyHot() bool {
	for i := range l.nodes {
		if !l.nodes[i].leaving && l.hot(i) {
			return true
		}
	}
	return false
}

// refresh computes the mean and the variance of the loads, and what depends on them.
func (l *loads) refresh() {
	l.mean, l.variance = [kinds]float64{}, [kinds]float64{}
	for _, r := range l.resources {
		for i := range l.nodes {
			if !l.nodes[i].leaving {
				l.mean[r] += l.load(i, r)
			}
		}
		l.mean[r] /= l.sharing[r]
		for i := range l.nodes {
			n := &l.nodes[i]
			if n.capacity[r] == Unlimited {
				continue
			}
			n.deviation[r] = l.load(i, r) - l.mean[r]
			n.corner.pull[r] = n.deviation[r] * n.corner.inverse[r]
			if !n.leaving {
				l.variance[r] += n.deviation[r] * n.deviation[r]
			}
		}
		l.variance[r] /= l.sharing[r]
		l.sigma[r] = math.Sqrt(l.variance[r])
	}
}

// weigh sets the weights of the resources (§3.1.1): those of which a node is over its capacity have the larger
// weight. The paper does not say what holds if both are; here they are equal then. The weights stay for the round,
// so that each move lowers the same imbalance.
func (l *loads) weigh(s *Settings) {
	sum := 0.0
	for _, r := range l.resources {
		l.weight[r] = s.Weights[r]
		for i := range l.nodes {
			if !l.nodes[i].leaving && l.load(i, r) > 1 {
				l.weight[r] = s.Weights[r] * s.Contended
				break
			}
		}
		sum += l.weight[r]
	}
	for _, r := range l.resources {
		l.weight[r] /= sum
	}
}

// imbalance is the weighted sum of the standard deviations, I_c.
func (l *loads) imbalance() (sum float64) {
	for _, r := range l.resources {
		sum += l.weight[r] * l.sigma[r]
	}
	return sum
}

// measure is the imbalance in all its figures.
func (l *loads) measure() (m Imbalance) {
	m.Total = l.imbalance()
	for _, r := range l.resources {
		m.Of[r] = l.sigma[r]
		if l.mean[r] > 0 {
			m.Variation[r] = l.sigma[r] / l.mean[r]
		}
		for i := range l.nodes {
			if !l.nodes[i].leaving {
				m.Peak[r] = max(m.Peak[r], l.load(i, r))
			}
		}
	}
	return m
}

// gain is by how much the imbalance falls if an entitlement moves between two nodes. It does not grow with any value
// of the destination, not even by rounding: the corner of several nodes bounds the gain to each.
func (l *loads) gain(size *[kinds]float64, from, to *corner) (sum float64) {
	for _, r := range l.resources {
		e, n := size[r], l.sharing[r]
		if e == 0 {
			continue
		}
		a, b := from.inverse[r], to.inverse[r]
		square := (a*a+b*b)*(1-1/n) + 2*a*b/n // the mean moves too if the capacities differ
		change := e * (e*square + 2*(to.pull[r]-from.pull[r])) / n
		sum += l.weight[r] * (l.sigma[r] - math.Sqrt(max(0, l.variance[r]+change)))
	}
	return sum
}

// gainTo is by how much the imbalance falls if a unit moves to a node.
func (l *loads) gainTo(u *unit, to int) float64 {
	return l.gain(&u.size, &l.nodes[u.node].corner, &l.nodes[to].corner)
}

// mostGain bounds the gain of any move from a node: of an entitlement up to the largest there, to a destination that
// is the best one in every respect. It is a little larger than the bound in real numbers, against rounding.
func (l *loads) mostGain(i int, largest *[kinds]float64, to *corner) (sum float64) {
	from := &l.nodes[i].corner
	for _, r := range l.resources {
		a, b, count := from.inverse[r], to.inverse[r], l.sharing[r]
		square := (a*a+b*b)*(1-1/count) + 2*a*b/count
		slope := 2 * (to.pull[r] - from.pull[r])
		if slope >= 0 || largest[r] == 0 {
			continue
		}
		e := largest[r]
		if square > 0 {
			e = min(e, -slope/(2*square))
		}
		change := e * (e*square + slope) / count
		sum += l.weight[r] * (l.sigma[r] - math.Sqrt(max(0, l.variance[r]+change)))
	}
	return sum * (1 + 1e-9)
}

// jointGain is by how much the imbalance falls if u moves between two nodes, and v from the second to a third.
func (l *loads) jointGain(u, v *unit, from, to, third int) (sum float64) {
	for _, r := range l.resources {
		a, b, n := u.size[r], v.size[r], l.sharing[r]
		arrives := [3]float64{-a, a - b, b}
		if third == from {
			arrives[0], arrives[2] = b-a, 0
		}
		square, mean := 0.0, 0.0
		for k, i := range [3]int{from, to, third} {
			more := arrives[k] * l.nodes[i].corner.inverse[r]
			square += more * (2*l.nodes[i].deviation[r] + more)
			mean += more
		}
		variance := l.variance[r] + square/n - mean*mean/(n*n)
		sum += l.weight[r] * (l.sigma[r] - math.Sqrt(max(0, variance)))
	}
	return sum
}

// part is an amount as a part of an average node, by the weights of the resources. Of resources over time it is seconds
// of an average node, which makes them comparable.
func (l *loads) part(amount *[kinds]float64) (sum float64) {
	for _, r := range l.resources {
		sum += l.weight[r] * amount[r] / l.average[r]
	}
	return sum
}
