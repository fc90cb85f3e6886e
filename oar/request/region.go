package request

import (
	"slices"
	"strings"

	"vjob/cluster"
)

// region is a group of nodes: all that match, or those that share the values of some labels, with its
// subgroups.
type region struct {
	value string // of the innermost label
	nodes []*cluster.Node
	parts []*region // sorted by value
	depth int       // number of labels below
}

// divide groups nodes by labels, from the outer to the inner. Nodes without a label, or with an empty
// one, are left out.
func divide(nodes []*cluster.Node, labels []string) *region {
	r := &region{nodes: nodes, depth: len(labels)}
	if len(labels) == 0 {
		return r
	}
	by := map[string][]*cluster.Node{}
	var values []string
	for _, n := range nodes {
		v := n.Labels[labels[0]]
		if v == "" {
			continue
		}
		if by[v] == nil {
			values = append(values, v)
		}
		by[v] = append(by[v], n)
	}
	slices.Sort(values)
	for _, v := range values {
		part := divide(by[v], labels[1:])
		part.value = v
		r.parts = append(r.parts, part)
	}
	return r
}

// level lists the regions at a depth; the region itself has depth 0.
func (r *region) level(depth int) []*region {
	if depth == 0 {
		return []*region{r}
	}
	var list []*region
	for _, p := range r.parts {
		list = append(list, p.level(depth-1)...)
	}
	return list
}

// inner lists the innermost regions.
func (r *region) inner() []*region { return r.level(r.depth) }

// unique reports whether the value of the innermost label identifies a region among those of one
// depth.
func unique(regions []*region) bool {
	seen := map[string]bool{}
	for _, r := range regions {
		if seen[r.value] {
			return false
		}
		seen[r.value] = true
	}
	return true
}

// fits returns how many VMs of a size fit on an empty node.
func fits(n *cluster.Node, size cluster.Resources) int {
	if size.CPU <= 0 || size.Memory <= 0 {
		return 0
	}
	return int(min(int64(n.Capacity.CPU/size.CPU), int64(n.Capacity.Memory/size.Memory)))
}

// capacity returns how many VMs fit on empty nodes; if the unit is [Node], one on each.
func capacity(nodes []*cluster.Node, size cluster.Resources, unit Unit) (total int) {
	for _, n := range nodes {
		k := fits(n, size)
		if unit == Node {
			k = min(k, 1)
		}
		total += k
	}
	return total
}

// enough reports whether an empty region satisfies counts: the number of parts that have enough, and
// the number of VMs in each innermost part.
func (r *region) enough(counts []int, size cluster.Resources, unit Unit) bool {
	if r.depth == 0 {
		return capacity(r.nodes, size, unit) >= counts[0]
	}
	return r.countEnough(counts, size, unit) >= counts[0]
}

// countEnough counts the parts that have enough.
func (r *region) countEnough(counts []int, size cluster.Resources, unit Unit) (n int) {
	for _, p := range r.parts {
		if p.enough(counts[1:], size, unit) {
			n++
		}
	}
	return n
}

// byName orders nodes by name.
func byName(a, b *cluster.Node) int { return strings.Compare(string(a.ID), string(b.ID)) }
