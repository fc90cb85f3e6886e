package cpushare

import (
	"cmp"
	"slices"

	"vjob/energy"
)

// Headroom returns how much all nodes together may draw above their draw without load, and the
// limits that cause it. That is exact if the node sets of limits are nested or disjoint; if
// they overlap, larger sets take precedence and the result may be an underestimate.
func (p *Problem) Headroom() (most energy.Watts, by []int) {
	g := nestedLimits{Problem: p, order: make([]int, len(p.Limits))}
	for i := range g.order {
		g.order[i] = i
	}
	slices.SortStableFunc(g.order, func(a, b int) int { return cmp.Compare(len(p.Limits[b].Nodes), len(p.Limits[a].Nodes)) })
	all := make([]int, len(p.Nodes))
	for n := range all {
		all[n] = n
	}
	return g.headroom(all, 0)
}

// nestedLimits is limits by number of nodes, the largest first.
type nestedLimits struct {
	*Problem
	order []int
}

// headroom is that of some nodes, by the limits from an index on.
func (g *nestedLimits) headroom(nodes []int, from int) (most energy.Watts, by []int) {
	rest := make(map[int]bool, len(nodes))
	for _, n := range nodes {
		rest[n] = true
	}
	for k := from; k < len(g.order); k++ {
		l := &g.Limits[g.order[k]]
		if len(l.Nodes) == 0 || slices.ContainsFunc(l.Nodes, func(n int) bool { return !rest[n] }) {
			continue
		}
		part, its := g.headroom(l.Nodes, k+1)
		if spare := g.remaining(l); spare < part {
			part, its = spare, []int{g.order[k]}
		}
		most, by = most+part, append(by, its...)
		for _, n := range l.Nodes {
			delete(rest, n)
		}
	}
	for _, n := range nodes {
		if rest[n] {
			most += g.Nodes[n].Power.Full - g.Nodes[n].Power.Idle
		}
	}
	return most, by
}

// remaining is what a limit leaves its nodes above their draw without load.
func (p *Problem) remaining(l *Limit) energy.Watts {
	left := l.Watts
	for _, n := range l.Nodes {
		left -= p.Nodes[n].Draws(0)
	}
	return max(0, left)
}
