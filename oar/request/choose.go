package request

import (
	"cmp"
	"slices"

	"vjob/cluster"
)

// cell is a set of nodes with a number of VMs that any of them may host: one of the innermost groups,
// or all matching nodes.
type cell struct {
	nodes []*cluster.Node
	vms   int
	size  cluster.Resources // of each VM
}

// resolveCount returns the number that a count stands for, given how many match and how many of these
// are free. ok is false if there are too few.
func resolveCount(c Count, all, free int) (n int, ok bool) {
	switch c {
	case All:
		n = all
	case Best:
		n = max(1, free)
	case BestHalf:
		n = max(1, free/2)
	default:
		n, _ = c.Number()
	}
	return n, n >= 1 && n <= all
}

// counts returns the numbers of the levels from the outer to the inner, the VMs last. words is true if
// a number depends on the choice of groups.
func (p *placer) counts(s *VMGroup, all *region, size cluster.Resources) (counts []int, words bool) {
	levels := append(slices.Clone(s.Labels), s.VMs)
	for _, l := range levels {
		n, ok := l.Count.Number()
		counts, words = append(counts, n), words || !ok
	}
	if len(levels) == 1 && words { // all or free capacity, in any group
		free := p.freeOf(all.nodes)
		n, ok := resolveCount(s.VMs.Count, capacity(all.nodes, size, s.Unit), capacity(free, size, s.Unit))
		if ok {
			return []int{n}, false
		}
	}
	return counts, words
}

// product returns the product of counts, capped above [MaxVMs].
func product(counts []int) int {
	total := 1
	for _, n := range counts {
		total = min(total, MaxVMs+1) * min(n, MaxVMs+1)
	}
	return total
}

// freeOf returns the nodes without VMs.
func (p *placer) freeOf(nodes []*cluster.Node) (free []*cluster.Node) {
	for _, n := range nodes {
		if p.inventory.free(n) {
			free = append(free, n)
		}
	}
	return free
}

// choose selects the groups for counts such as BEST: those with the most free capacity, then those
// with the most capacity, then by name.
func (p *placer) choose(r *region, s *VMGroup, size cluster.Resources) ([]cell, error) {
	all := func(r *region) int { return capacity(r.nodes, size, s.Unit) }
	free := func(r *region) int { return capacity(p.freeOf(r.nodes), size, s.Unit) }
	if r.depth == 0 {
		n, ok := resolveCount(s.VMs.Count, all(r), free(r))
		if !ok {
			return nil, p.tooFew(s, r, size, nil)
		}
		return []cell{{nodes: r.nodes, vms: n}}, nil
	}
	type option struct {
		all, free int
		cells     []cell
	}
	var options []option
	idle := 0 // parts that have enough free capacity
	for _, part := range r.parts {
		cells, err := p.choose(part, s, size)
		if err != nil {
			continue // another part may have enough
		}
		o := option{all(part), free(part), cells}
		needs := 0
		for _, c := range cells {
			needs += c.vms
		}
		if needs <= o.free {
			idle++
		}
		options = append(options, o)
	}
	slices.SortStableFunc(options, func(a, b option) int {
		return cmp.Or(cmp.Compare(b.free, a.free), cmp.Compare(b.all, a.all))
	})
	n, ok := resolveCount(s.Labels[len(s.Labels)-r.depth].Count, len(options), idle)
	if !ok {
		return nil, p.tooFew(s, r, size, nil)
	}
	var cells []cell
	for _, o := range options[:n] {
		cells = append(cells, o.cells...)
	}
	return cells, nil
}
