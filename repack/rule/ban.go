package rule

import (
	"fmt"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "ban", Doc: "none of the VMs on any of the nodes; softly: rather elsewhere",
	Params: []Param{{Name: "vms", Type: VMs}, {Name: "nodes", Type: Nodes}},
	Modes:  Discrete | Continuous,
	make: func(b base) repack.Rule {
		return &ban{base: b, vms: b.args.vms(), nodes: b.args.nodes()}
	},
})

type ban struct {
	base
	vms, nodes []int
}

// Check reports each VM that ends on a forbidden node or comes to one.
func (r *ban) Check(t *repack.Timeline) []repack.Breach {
	bad := map[int]bool{}
	for _, n := range r.nodes {
		bad[n] = true
	}
	return misplaced(t, r.vms, r.args.Continuous, func(n int) bool { return bad[n] })
}

// misplaced reports the VMs that end on a bad node, or come to one in passing.
func misplaced(t *repack.Timeline, vms []int, continuous bool, bad func(node int) bool) (list []repack.Breach) {
	in := t.Instance
	for _, vm := range vms {
		if n, runs := t.Runs(vm); runs && bad(n) {
			list = append(list, repack.Breach{Text: fmt.Sprintf("%s ends on %s", in.VMName(vm), in.NodeName(n)), At: repack.Forever})
		}
		if !continuous {
			continue
		}
		for _, s := range t.Stays[vm] {
			if bad(s.Node) && !s.Inherited && s.To < repack.Forever {
				list = append(list, repack.Breach{Text: fmt.Sprintf("%s is on %s", in.VMName(vm), in.NodeName(s.Node)), At: s.From})
			}
		}
	}
	return list
}

// Post takes the nodes from the choice.
func (r *ban) Post(b repack.ConstraintStore) {
	for _, vm := range r.vms {
		for _, n := range r.nodes {
			b.Forbid(vm, n, r.args.Continuous)
		}
	}
}
