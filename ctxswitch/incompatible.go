package ctxswitch

import "vjob/cluster"

// excludeIncompatible keeps VMs off the nodes that cannot run them, from the first instant on. VMs that may not be
// touched are where they are.
func (g *instanceBuilder) excludeIncompatible(nodes map[cluster.VMID][]cluster.NodeID) error {
	if len(nodes) == 0 {
		return nil
	}
	type group struct{ vms, nodes []int }
	var groups []*group
	of := map[*cluster.NodeID]*group{} // by the list that they share
	for i, vm := range g.vms {
		list := nodes[vm]
		if len(list) == 0 || g.in.VMs[i].Stays {
			continue
		}
		same, known := of[&list[0]]
		if !known {
			same = &group{}
			for _, id := range list {
				if n, known := g.nodeIndex(id); known {
					same.nodes = append(same.nodes, n)
				}
			}
			of[&list[0]] = same
			groups = append(groups, same)
		}
		same.vms = append(same.vms, i)
	}
	for _, s := range groups {
		if err := g.keep("ban", s.vms, s.nodes, 0); err != nil {
			return err
		}
	}
	return nil
}
