package pattern

import (
	"math"
	"slices"
)

// Holding is a pattern and how many nodes of a class hold it.
type Holding struct {
	Class int
	Nodes int64
	VMs   []int64 // of each kind on each node, some of which may be more than there are
}

// maxPrograms bounds how many linear programs are solved for whole numbers of nodes.
const maxPrograms = 64

// Fill returns patterns that have places for all VMs, of much worth; nil if it finds none.
func (p *Problem) Fill() []Holding {
	d := &dive{Problem: p, scale: p.scale(), left: maxPrograms, closed: make([]bool, len(p.columns))}
	list, ok := d.from(p.wanted(), p.nodes(), nil)
	if !ok {
		return nil
	}
	return list
}

// dive looks for whole numbers of nodes, depth first.
type dive struct {
	*Problem
	scale  float64
	left   int    // linear programs
	closed []bool // patterns that are not used more often
}

// from solves the linear program for the VMs and nodes that are left. It rounds down how many nodes hold each pattern, and goes on with
// one more of the pattern with the largest part cut off, or if that leads nowhere, without any more of that pattern.
func (d *dive) from(wanted, nodes []int64, list []Holding) ([]Holding, bool) {
	if !some(wanted) {
		return d.fillRest(nodes, list), true
	}
	if d.left--; d.left < 0 {
		return nil, false
	}
	s := newSimplex(d.Problem, d.closed, wanted, nodes)
	if !s.place() {
		return nil, false
	}
	s.improve(d.scale)
	next, part := -1, 1e-6
	for r, v := range s.base {
		if v >= len(d.columns) {
			continue
		}
		whole := math.Floor(s.value[r] + 1e-6)
		if cut := s.value[r] - whole; cut > part+1e-9 || cut > part-1e-9 && v < next {
			next, part = v, cut
		}
		list = d.hold(list, v, int64(whole), wanted, nodes)
	}
	if next < 0 {
		return d.fillRest(nodes, list), !some(wanted)
	}
	fewer, left := slices.Clone(wanted), slices.Clone(nodes)
	if more, ok := d.from(fewer, left, d.hold(slices.Clip(list), next, 1, fewer, left)); ok {
		return more, true
	}
	d.closed[next] = true
	defer func() { d.closed[next] = false }()
	return d.from(wanted, nodes, slices.Clip(list))
}

// hold gives nodes a pattern, as far as there are nodes left.
func (p *Problem) hold(list []Holding, column int, n int64, wanted, nodes []int64) []Holding {
	c := &p.columns[column]
	n = min(n, nodes[c.class])
	if n == 0 {
		return list
	}
	nodes[c.class] -= n
	for k, each := range c.vms {
		wanted[k] = max(0, wanted[k]-n*each)
	}
	return append(list, Holding{c.class, n, c.vms})
}

// fillRest gives the nodes that are left the patterns that are worth the most.
func (p *Problem) fillRest(nodes []int64, list []Holding) []Holding {
	best := make([]*column, len(p.Classes))
	for i := range p.columns {
		if c := &p.columns[i]; c.worth > 0 && (best[c.class] == nil || c.worth > best[c.class].worth) {
			best[c.class] = c
		}
	}
	for class, c := range best {
		if c != nil && nodes[class] > 0 {
			list = append(list, Holding{class, nodes[class], c.vms})
		}
	}
	return list
}

// some reports whether a VM is left.
func some(wanted []int64) bool {
	return slices.ContainsFunc(wanted, func(n int64) bool { return n > 0 })
}
