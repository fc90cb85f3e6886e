package balance

import (
	"math"
)

// candidate is a move of one unit, and by how much it lowers the imbalance.
type candidate struct {
	gain     float64
	unit, to int
}

// beaten reports whether a move of a unit to a node would be preferred to the candidate. Of equal gains the first unit wins, and of
// that the first node, as in the loops of Algorithm 1.
func (c *candidate) beaten(gain float64, unit, to int) bool {
	if gain != c.gain {
		return gain > c.gain
	}
	return unit < c.unit || unit == c.unit && to < c.to
}

// best returns the move that lowers the imbalance most of those that are possible and gain more than the least: the
// result of one iteration of Algorithm 1. With hotOnly VMs leave only nodes over their capacity.
func (st *state) best(least float64, hotOnly bool) (candidate, bool) {
	c := candidate{gain: least, unit: -1, to: -1}
	if len(st.tree.boxes) == 0 {
		return c, false
	}
	first := -1
	for i := range st.nodes {
		st.bounds[i] = 0
		if st.mayLeave(i, hotOnly) {
			st.bounds[i] = st.mostGain(i)
		}
		if st.bounds[i] > 0 && (first < 0 || st.bounds[i] > st.bounds[first]) {
			first = i
		}
	}
	if first < 0 {
		return c, false
	}
	st.bestFrom(first, &c)
	for i, bound := range st.bounds {
		if i != first && bound > 0 && bound >= c.gain {
			st.bestFrom(i, &c)
		}
	}
	return c, c.unit >= 0
}

// mayLeave reports whether VMs may leave a node in this round.
func (st *state) mayLeave(i int, hotOnly bool) bool {
	return !st.full(i) && !st.c.Nodes[i].Leaving && (!hotOnly || st.hot(i))
}

// mostGain bounds the gain of any move from a node: of an entitlement up to the largest there, to a destination that
// is the best one in every respect. It is a little larger than the bound in real numbers, against rounding.
func (st *state) mostGain(i int) (sum float64) {
	n, to, count := &st.nodes[i], &st.tree.boxes[0].corner, float64(st.counted)
	for _, r := range st.resources {
		a, b := n.corner.inverse[r], to.inverse[r]
		square := (a*a+b*b)*(1-1/count) + 2*a*b/count
		slope := 2 * (to.pull[r] - n.corner.pull[r])
		if slope >= 0 || n.largest[r] == 0 || square == 0 {
			continue
		}
		e := min(n.largest[r], -slope/(2*square))
		change := e * (e*square + slope) / count
		sum += st.weight[r] * (st.sigma[r] - math.Sqrt(max(0, st.variance[r]+change)))
	}
	return sum * (1 + 1e-9)
}

// bestFrom improves a candidate by the units of a node.
func (st *state) bestFrom(i int, c *candidate) {
	for _, k := range st.nodes[i].movable {
		st.bestTo(0, k, st.boundOf(0, &st.units[k]), c)
	}
}

func (st *state) boundOf(b int, u *unit) float64 {
	return st.gain(&u.size, &st.nodes[u.node].corner, &st.tree.boxes[b].corner)
}

// bestTo improves a candidate by the moves of a unit to the nodes of a box.
func (st *state) bestTo(at, k int, bound float64, c *candidate) {
	b, u := &st.tree.boxes[at], &st.units[k]
	if !c.beaten(bound, k, b.first) {
		return
	}
	if b.right > 0 {
		left, right := at+1, b.right
		leftBound, rightBound := st.boundOf(left, u), st.boundOf(right, u)
		if rightBound > leftBound || rightBound == leftBound && st.tree.boxes[right].first < st.tree.boxes[left].first {
			left, right, leftBound, rightBound = right, left, rightBound, leftBound
		}
		st.bestTo(left, k, leftBound, c)
		st.bestTo(right, k, rightBound, c)
		return
	}
	for _, to := range st.tree.order[b.from:b.to] {
		if to == u.node {
			continue
		}
		gain := st.gain(&u.size, &st.nodes[u.node].corner, &st.nodes[to].corner)
		if c.beaten(gain, k, to) && st.hasRoom(u, to) && st.refuses(u, to) == "" && st.pays(u, to) {
			*c = candidate{gain, k, to}
		}
	}
}
