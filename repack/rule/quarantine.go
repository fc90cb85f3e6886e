package rule

import (
	"fmt"

	"vjob/repack"
)

var _ = register(Kind{
	Name: "quarantine", Doc: "VMs that run on the nodes may not leave, and others may not come",
	Params: []Param{{Name: "nodes", Type: Nodes}},
	Modes:  Continuous,
	make: func(b base) repack.Rule {
		return &quarantine{base: b, nodes: b.args.nodes()}
	},
})

// quarantine lets VMs be stopped, suspended, and resumed where they were. No VM moves between
// two of its nodes either.
type quarantine struct {
	base
	nodes []int
}

// Check reports each VM that leaves or comes.
func (q *quarantine) Check(t *repack.Timeline) (list []repack.Breach) {
	in, shut := t.Instance, map[int]bool{}
	for _, n := range q.nodes {
		shut[n] = true
	}
	for vm := range in.VMs {
		v := &in.VMs[vm]
		inside := v.State == repack.Running && shut[v.Host]
		for _, s := range t.Stays[vm] {
			if inside && s.Node != v.Host {
				list = append(list, repack.Breach{Text: fmt.Sprintf("%s leaves %s", in.VMName(vm), in.NodeName(v.Host)), At: s.From})
				break
			}
			if !inside && shut[s.Node] {
				list = append(list, repack.Breach{Text: fmt.Sprintf("%s comes to %s", in.VMName(vm), in.NodeName(s.Node)), At: s.From})
				break
			}
		}
	}
	return list
}

// Post confines those inside to their hosts and keeps the others out.
func (q *quarantine) Post(b repack.ConstraintStore) {
	in := b.Instance()
	shut := newFlags(len(in.Nodes), q.nodes)
	for vm := range in.VMs {
		v := &in.VMs[vm]
		if v.State == repack.Running && shut.has(v.Host) {
			b.Confine([]int{vm}, []int{v.Host}, true)
			continue
		}
		for _, n := range q.nodes {
			b.Forbid(vm, n, true)
		}
	}
}
