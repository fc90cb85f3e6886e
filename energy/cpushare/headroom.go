package cpushare

import (
	"cmp"
	"slices"

	"vjob/energy"
)

// Leaves is the most that all nodes together may draw beside what they draw without load,
// and the limits that make it so. Where limits are of nodes that lie in each other or beside
// each other it is that; of those that overlap otherwise the largest count, so it may be less.
func (p *Problem) Leaves() (most energy.Watts, by []int) {
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

// nestedLimits is limits in order, those of many nodes first.
type nestedLimits struct {
	*Problem
	order []int
}

// headroom is what some nodes may draw more, by the limits from one on.
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

// remaining is what a limit leaves its nodes.
func (p *Problem) remaining(l *Limit) energy.Watts {
	left := l.Watts
	for _, n := range l.Nodes {
		left -= p.Nodes[n].Draws(0)
	}
	return max(0, left)
}
