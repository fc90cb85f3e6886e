package request

import (
	"slices"
	"strings"

	"vjob/cluster"
)

// region is a group of nodes: all that match, or those that share the values of some
// labels, with the groups within it.
type region struct {
	value string // of the innermost label
	nodes []*cluster.Node
	parts []*region // in the order of their values
	depth int       // how many labels there are below
}

// divide makes the regions of nodes by labels, from the outer to the inner. A node
// without a label, or with an empty one, is in none.
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

// level lists the regions that are so deep: 0 is the region itself.
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

// unique reports whether no value of the innermost label occurs in two regions of
// one depth, so that the label alone tells them apart.
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

// fits is how many VMs of a size an empty node holds.
func fits(n *cluster.Node, size cluster.Resources) int {
	if size.CPU <= 0 || size.Memory <= 0 {
		return 0
	}
	return int(min(int64(n.Capacity.CPU/size.CPU), int64(n.Capacity.Memory/size.Memory)))
}

// capacity is how many VMs some nodes hold when they are empty, one each on the level
// of nodes.
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

// enough reports whether an empty region has what counts ask for: so many parts that
// have enough, and in the innermost so many VMs.
func (r *region) enough(counts []int, size cluster.Resources, unit Unit) bool {
	if r.depth == 0 {
		return capacity(r.nodes, size, unit) >= counts[0]
	}
	return r.good(counts, size, unit) >= counts[0]
}

// good counts the parts that have enough for what is asked of each.
func (r *region) good(counts []int, size cluster.Resources, unit Unit) (n int) {
	for _, p := range r.parts {
		if p.enough(counts[1:], size, unit) {
			n++
		}
	}
	return n
}

// byName orders nodes.
func byName(a, b *cluster.Node) int { return strings.Compare(string(a.ID), string(b.ID)) }
