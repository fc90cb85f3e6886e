package ctxswitch

import (
	"vjob/cluster"
	"vjob/repack"
	"vjob/repack/rule"
)

// postPlaces fences VMs to their final places. Before the end they may be elsewhere.
func (g *instanceBuilder) postPlaces(places map[cluster.VMID]cluster.NodeID) error {
	if len(places) == 0 {
		return nil
	}
	kind, err := rule.Find("fence")
	if err != nil {
		return err
	}
	for i, vm := range g.vms {
		to, sent := places[vm]
		if !sent || g.in.VMs[i].Stays {
			continue
		}
		nodes := []int{}
		if n := g.indexOf(to); n != repack.Nowhere {
			nodes = append(nodes, n)
		}
		r, err := kind.New(rule.Args{Instance: &g.in, Values: map[string]any{"vms": []int{i}, "nodes": nodes}})
		if err != nil {
			return err
		}
		g.in.Rules = append(g.in.Rules, repack.Posted{Rule: r})
	}
	return nil
}
