package rule

import (
	"fmt"
	"math"
	"slices"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "overbook", Doc: "each of the nodes offers ratio times what it has of a resource",
	Params: []Param{{Name: "nodes", Type: Nodes}, {Name: "resource", Type: Resource}, {Name: "ratio", Type: Ratio}},
	Modes:  Continuous,
	make: func(b base) repack.Rule {
		return &overbook{base: b, nodes: b.args.nodes(), d: b.args.resource("resource"), ratio: b.args.ratio("ratio")}
	},
})

// overbook is of what the nodes of the instance have that the rule was made for. Of
// several rules on a node the tightest holds.
type overbook struct {
	base
	nodes []int
	d     int
	ratio float64
}

// Amend sets the capacities.
func (o *overbook) Amend(in *repack.Instance) error {
	for _, n := range o.nodes {
		offer := o.offer(n)
		for _, other := range o.before(in) {
			if slices.Contains(other.nodes, n) {
				offer = min(offer, other.offer(n))
			}
		}
		node := &in.Nodes[n]
		node.Capacity = slices.Clone(node.Capacity)
		node.Capacity[o.d] = offer
	}
	return nil
}

// offer is rounded down, but not for the sake of an inexact product.
func (o *overbook) offer(n int) int64 {
	return int64(math.Floor(float64(o.args.Instance.Nodes[n].Capacity[o.d])*o.ratio + 1e-6))
}

// before are the rules on the same resource that have amended already.
func (o *overbook) before(in *repack.Instance) (list []*overbook) {
	for _, r := range in.Rules {
		other, ok := r.Rule.(*overbook)
		if other == o {
			break
		}
		if ok && r.Penalty == 0 && other.d == o.d {
			list = append(list, other)
		}
	}
	return list
}

// Check reports each node on which more is used. As with capacities, what is too
// much at first may come down.
func (o *overbook) Check(t *repack.Timeline) (list []repack.Breach) {
	groups := make([][]int, len(o.nodes))
	for i, n := range o.nodes {
		groups[i] = []int{n}
	}
	for i, used := range usage(t, o.d, len(groups), groupOf(groups)) {
		n := o.nodes[i]
		most := int64(float64(o.args.Instance.Nodes[n].Capacity[o.d])*o.ratio + 1e-6)
		passing, end := highs(used.start, used.steps, most)
		if end > most {
			passing = append(passing, high{repack.Forever, end})
		}
		for _, h := range passing {
			list = append(list, repack.Breach{Text: fmt.Sprintf("%d of %d is used on %s", h.load, most, t.Instance.NodeName(n)), At: h.at})
		}
	}
	return list
}

// Post has nothing to say: the capacities are part of the amended instance.
func (o *overbook) Post(repack.ConstraintStore) {}
