package rule

import "vjob/repack"

var _ = register(Kind{
	Name: "fence", Doc: "the VMs only on these nodes; softly: rather there",
	Params: []Param{{Name: "vms", Type: VMs}, {Name: "nodes", Type: Nodes}},
	Modes:  Discrete | Continuous,
	make: func(b base) repack.Rule {
		return &fence{base: b, vms: b.args.vms(), nodes: b.args.nodes()}
	},
})

type fence struct {
	base
	vms, nodes []int
}

// Check reports each VM that ends outside or goes there.
func (r *fence) Check(t *repack.Timeline) []repack.Breach {
	good := map[int]bool{}
	for _, n := range r.nodes {
		good[n] = true
	}
	return misplaced(t, r.vms, r.args.Continuous, func(n int) bool { return !good[n] })
}

// Post leaves nothing but the nodes to choose from.
func (r *fence) Post(b repack.ConstraintStore) { b.Confine(r.vms, r.nodes, r.args.Continuous) }
