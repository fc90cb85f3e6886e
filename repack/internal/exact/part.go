package exact

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/problem"
)

// Part is a problem of a few VMs and nodes of another one, in which all other VMs on the nodes stay. It has
// the rules on single VMs; whether a plan keeps the others, [repack.Check] says.
type Part struct {
	Instance   *repack.Instance
	vms, nodes []int // of the other problem, by their number here
}

// NewPart returns the part of a problem. The VMs run, or their images are, on these nodes or nowhere.
func NewPart(m *problem.Problem, vms, nodes []int) *Part {
	in := m.In
	p := &Part{&repack.Instance{Dims: in.Dims, NodeOff: in.NodeOff, NodeOn: in.NodeOn}, vms, nodes}
	for _, n := range nodes {
		node := in.Nodes[n]
		node.Capacity = slices.Clone(node.Capacity)
		for _, vm := range m.AtStart.At(n) {
			for d := range node.Capacity {
				if !slices.Contains(vms, vm) {
					node.Capacity[d] = max(0, node.Capacity[d]-max(in.VMs[vm].Now[d], in.VMs[vm].Next[d]))
				}
			}
		}
		p.Instance.Nodes = append(p.Instance.Nodes, node)
	}
	for _, vm := range vms {
		v := in.VMs[vm]
		v.Host = slices.Index(nodes, v.Host)
		p.Instance.VMs = append(p.Instance.VMs, v)
	}
	p.Instance.Rules = []repack.Posted{{Rule: &single{p, m}}}
	return p
}

// Whole returns the actions as those of the other problem.
func (p *Part) Whole(actions []repack.Action) []repack.Action {
	list := slices.Clone(actions)
	for i := range list {
		a := &list[i]
		if a.VM != repack.Nowhere {
			a.VM = p.vms[a.VM]
		}
		for _, n := range []*int{&a.From, &a.To} {
			if *n != repack.Nowhere {
				*n = p.nodes[*n]
			}
		}
	}
	return list
}

// single is what the rules of a problem say of single VMs, in a part of it.
type single struct {
	part *Part
	of   *problem.Problem
}

// String says what the rule is.
func (s *single) String() string { return "rules on single VMs" }

// Check finds nothing: plans are checked in the whole problem.
func (s *single) Check(*repack.Timeline) []repack.Breach { return nil }

// Post bans VMs from nodes, and keeps VMs from migrating.
func (s *single) Post(b repack.ConstraintStore) {
	for i, vm := range s.part.vms {
		if s.of.Rooted[vm] {
			b.Root(i)
		}
		for j, n := range s.part.nodes {
			if s.of.Banned[vm].Has(n) {
				b.Forbid(i, j, s.of.BannedAlways[vm].Has(n))
			}
		}
	}
}
