package balance

import (
	"cmp"
	"math"
	"slices"
)

// chain is two moves that help only together: a VM leaves a node for another one, and a VM of a loaded node takes
// its place. If the first goes to the loaded node itself, the chain is a swap.
type chain struct {
	gain          float64
	first, second candidate // in the order in which they fit
}

// How far a search for chains looks: into so many of the most loaded nodes and of the least loaded ones, so many
// units of each, and so many nodes for what makes place; so many are examined of those that gain enough. A round has
// at most mostChains of them.
const (
	chainSources = 8
	chainDests   = 16
	chainUnits   = 24
	chainThirds  = 6
	chainTrials  = 500
	mostChains   = 32
)

// applyChain applies the best chain that gains more than twice the least gain of a move, if there is one.
func (st *state) applyChain(r *Round, least float64, hotOnly bool) bool {
	set := 1
	for i := range r.Moves {
		set = max(set, r.Moves[i].Set+1)
	}
	if set > mostChains || st.MaxMoves > 0 && len(r.Moves)+2 > st.MaxMoves || len(st.tree.order) == 0 {
		return false
	}
	best := chain{gain: 2 * least}
	found, trials := false, chainTrials
	idle := st.idlest(chainDests)
	for _, from := range st.busiest(hotOnly) {
		for _, u := range st.largestUnits(from, math.Inf(1)) {
			for _, to := range idle {
				if to != from && st.makePlace(u, to, idle, &best, &trials) {
					found = true
				}
			}
		}
	}
	if found {
		st.apply(r, best.first, set)
		st.apply(r, best.second, set)
	}
	return found
}

// busiest returns the nodes from which moves could gain most.
func (st *state) busiest(hotOnly bool) (list []int) {
	bound := map[int]float64{}
	for i := range st.nodes {
		if st.mayLeave(i, hotOnly) {
			if bound[i] = st.mostGain(i); bound[i] > 0 {
				list = append(list, i)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(bound[b], bound[a]) })
	return list[:min(len(list), chainSources)]
}

// idlest returns the nodes with the least load that take VMs.
func (st *state) idlest(n int) []int {
	list := slices.Clone(st.tree.order)
	load := func(i int) (sum float64) {
		for _, r := range st.resources {
			sum += st.weight[r] * st.nodes[i].deviation[r]
		}
		return sum
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(load(a), load(b)), cmp.Compare(a, b)) })
	list = slices.DeleteFunc(list, func(i int) bool { return st.full(i) })
	return list[:min(len(list), n)]
}

// largestUnits returns the units of a node that may move, the largest first, up to a size.
func (st *state) largestUnits(i int, most float64) []int {
	list := slices.DeleteFunc(slices.Clone(st.nodes[i].units), func(k int) bool {
		return st.units[k].fixed != "" || st.weighted(k) >= most
	})
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(st.weighted(b), st.weighted(a)) })
	return list[:min(len(list), chainUnits)]
}

// weighted is the size of a unit as a part of an average node, by the weights of the resources.
func (st *state) weighted(k int) (sum float64) {
	for _, r := range st.resources {
		sum += st.weight[r] * st.units[k].size[r] / st.average[r]
	}
	return sum
}

// makePlace improves a chain by those in which a unit moves to a node from which another one leaves.
func (st *state) makePlace(u, to int, idle []int, best *chain, trials *int) (better bool) {
	from := st.units[u].node
	for _, v := range st.largestUnits(to, st.weighted(u)) {
		if st.CostBenefit && st.units[u].mostWorth+st.units[v].mostWorth <= 0 {
			continue
		}
		for n := -1; n < min(chainThirds, len(idle)); n++ {
			third := from // a swap
			if n >= 0 {
				third = idle[n]
			}
			if third == to || n >= 0 && third == from {
				continue
			}
			gain := st.jointGain(u, v, from, to, third)
			if gain <= best.gain || *trials == 0 {
				continue
			}
			*trials--
			if first, second, ok := st.inOrder(candidate{unit: v, to: third}, candidate{unit: u, to: to}); ok {
				*best, better = chain{gain, first, second}, true
			}
		}
	}
	return better
}

// jointGain is by how much the imbalance falls if u moves between two nodes, and v from the second to a third.
func (st *state) jointGain(u, v, from, to, third int) (sum float64) {
	n := float64(st.counted)
	for _, r := range st.resources {
		a, b := st.units[u].size[r], st.units[v].size[r]
		arrives := [3]float64{-a, a - b, b}
		if third == from {
			arrives[0], arrives[2] = b-a, 0
		}
		square, mean := 0.0, 0.0
		for k, i := range [3]int{from, to, third} {
			more := arrives[k] * st.nodes[i].corner.inverse[r]
			square += more * (2*st.nodes[i].deviation[r] + more)
			mean += more
		}
		variance := st.variance[r] + square/n - mean*mean/(n*n)
		sum += st.weight[r] * (st.sigma[r] - math.Sqrt(max(0, variance)))
	}
	return sum
}

// inOrder returns two moves in an order in which each fits when it begins, with their gains. It fails if neither
// order does, or if the two are not worth their cost.
func (st *state) inOrder(v, u candidate) (first, second candidate, ok bool) {
	joint := st.jointGain(u.unit, v.unit, st.units[u.unit].node, u.to, v.to)
	for _, order := range [2][2]candidate{{v, u}, {u, v}} {
		first, second = order[0], order[1]
		a, b := &st.units[first.unit], &st.units[second.unit]
		if !st.allows(a.node, first.to, b.node, second.to) || st.refuses(a, first.to) != "" {
			continue
		}
		first.gain = st.gain(&a.size, &st.nodes[a.node].corner, &st.nodes[first.to].corner)
		second.gain = joint - first.gain
		worth := st.value(st.benefit(a, first.to)) - st.value(a.cost)
		back := st.pretend(first)
		fits := st.refuses(b, second.to) == ""
		worth += st.value(st.benefit(b, second.to)) - st.value(b.cost)
		st.pretend(back)
		if fits && (!st.CostBenefit || worth > 0) {
			return first, second, true
		}
	}
	return first, second, false
}

// pretend counts a unit on another node, without what is derived from that, and returns the way back.
func (st *state) pretend(c candidate) (back candidate) {
	u := &st.units[c.unit]
	back = candidate{unit: c.unit, to: u.node}
	st.nodes[u.node].add(u, -1)
	st.nodes[c.to].add(u, 1)
	st.told(u, u.node, c.to)
	u.node = c.to
	st.foresee(back.to)
	st.foresee(c.to)
	return back
}

// allows reports whether the limit of moves of a node allows two moves with these ends.
func (st *state) allows(ends ...int) bool {
	for _, i := range ends {
		more := 0
		for _, k := range ends {
			if k == i {
				more++
			}
		}
		if st.MaxPerNode > 0 && st.nodes[i].moves+more > st.MaxPerNode {
			return false
		}
	}
	return true
}
