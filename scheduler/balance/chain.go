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

// chains finds the two moves that lower the imbalance most together.
type chains struct {
	*search
	idle   []int // the nodes with the least load that take VMs
	best   chain
	trials int // that are left
}

// newChains looks for chains that gain more than the least.
func newChains(s *search, least float64) *chains {
	c := &chains{search: s, best: chain{gain: least}, trials: chainTrials}
	c.idle = c.idlest(chainDests)
	return c
}

// find returns the best chain, if there is one. With hotOnly the first VM leaves a node over its capacity.
func (c *chains) find(hotOnly bool) (best chain, found bool) {
	for _, from := range c.busiest(hotOnly) {
		for _, u := range c.largestUnits(from, math.Inf(1)) {
			for _, to := range c.idle {
				if to != from && c.makePlace(u, to) {
					found = true
				}
			}
		}
	}
	return c.best, found
}

// busiest returns the nodes from which moves could gain most.
func (c *chains) busiest(hotOnly bool) (list []int) {
	bound := map[int]float64{}
	for i := range c.sources {
		if c.mayLeave(i, hotOnly) {
			if bound[i] = c.mostGain(i); bound[i] > 0 {
				list = append(list, i)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(bound[b], bound[a]) })
	return list[:min(len(list), chainSources)]
}

// idlest returns the nodes with the least load that take VMs.
func (c *chains) idlest(n int) []int {
	list := slices.Clone(c.tree.order)
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(c.loads.excess(a), c.loads.excess(b)), cmp.Compare(a, b))
	})
	list = slices.DeleteFunc(list, func(i int) bool { return c.limits.full(i) })
	return list[:min(len(list), n)]
}

// largestUnits returns the units of a node that may move, the largest first, up to a size.
func (c *chains) largestUnits(i int, most float64) []int {
	list := slices.DeleteFunc(slices.Clone(c.layout.on[i]), func(k int) bool {
		return c.layout.units[k].fixed != "" || c.weighted(k) >= most
	})
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(c.weighted(b), c.weighted(a)) })
	return list[:min(len(list), chainUnits)]
}

// weighted is the size of a unit as a part of an average node, by the weights of the resources.
func (c *chains) weighted(k int) float64 { return c.loads.part(&c.layout.units[k].size) }

// makePlace improves a chain by those in which a unit moves to a node from which another one leaves.
func (c *chains) makePlace(u, to int) (better bool) {
	from := c.layout.units[u].node
	for _, v := range c.largestUnits(to, c.weighted(u)) {
		if c.demands.compared && c.demands.departures[u].worth+c.demands.departures[v].worth <= 0 {
			continue
		}
		for n := -1; n < min(chainThirds, len(c.idle)); n++ {
			third := from // a swap
			if n >= 0 {
				third = c.idle[n]
			}
			if third == to || n >= 0 && third == from {
				continue
			}
			gain := c.loads.jointGain(&c.layout.units[u], &c.layout.units[v], from, to, third)
			if gain <= c.best.gain || c.trials == 0 {
				continue
			}
			c.trials--
			if first, second, ok := c.inOrder(candidate{unit: v, to: third}, candidate{unit: u, to: to}); ok {
				c.best, better = chain{gain, first, second}, true
			}
		}
	}
	return better
}

// inOrder returns two moves in an order in which each fits when it begins, with their gains. It fails if neither
// order does, or if the two are not worth their cost.
func (c *chains) inOrder(v, u candidate) (first, second candidate, ok bool) {
	joint := c.loads.jointGain(&c.layout.units[u.unit], &c.layout.units[v.unit], c.layout.units[u.unit].node, u.to, v.to)
	for _, order := range [2][2]candidate{{v, u}, {u, v}} {
		first, second = order[0], order[1]
		a, b := &c.layout.units[first.unit], &c.layout.units[second.unit]
		if !c.limits.allows(a.node, first.to, b.node, second.to) || c.limits.refuses(a, first.to) != "" {
			continue
		}
		first.gain = c.loads.gainTo(a, first.to)
		second.gain = joint - first.gain
		worth := c.demands.value(c.demands.benefit(a, first.to)) - c.demands.value(a.cost)
		back := c.pretend(first)
		fits := c.limits.refuses(b, second.to) == ""
		worth += c.demands.value(c.demands.benefit(b, second.to)) - c.demands.value(b.cost)
		c.pretend(back)
		if fits && (!c.demands.compared || worth > 0) {
			return first, second, true
		}
	}
	return first, second, false
}
