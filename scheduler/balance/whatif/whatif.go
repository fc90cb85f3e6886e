// Package whatif tells power management where VMs would be after a round of balancing over some of the nodes: the
// what-if of "VMware Distributed Resource Management" (2012), §4.2 and §4.3.
package whatif

import (
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/energy/dpm"
	"vjob/scheduler/balance"
)

// Rebalance returns a [dpm.Rebalance]: the VMs of nodes that would be off move to the others, and then the nodes are
// balanced, by the CPU demands that power management expects. The number of moves, their cost and rules do not count.
func Rebalance(set balance.Settings, power *dpm.Settings, c *dpm.Cluster) dpm.Rebalance {
	set.MaxMoves, set.MaxPerNode, set.CostBenefit, set.Chains = 0, 0, false, false
	demands := power.Demands(c)
	hosts := make(map[cluster.NodeID]*dpm.Host, len(c.Hosts))
	for i := range c.Hosts {
		hosts[c.Hosts[i].ID] = &c.Hosts[i]
	}
	return func(on []cluster.NodeID, from dpm.Placement) (dpm.Placement, bool) {
		in := &balance.Cluster{}
		index := map[cluster.NodeID]int{}
		add := func(id cluster.NodeID, leaving bool) {
			if h := hosts[id]; h != nil {
				index[id] = len(in.Nodes)
				in.Nodes = append(in.Nodes, balance.Node{Name: string(id), Capacity: amounts(h.Capacity), Leaving: leaving})
			}
		}
		for _, id := range on {
			add(id, false)
		}
		vms := slices.SortedFunc(maps.Keys(from), cluster.VMID.Compare)
		for _, vm := range vms {
			if _, known := index[from[vm]]; !known {
				add(from[vm], true)
			}
			at, known := index[from[vm]]
			if !known {
				return nil, false // on a node that does not count
			}
			need := amounts(cluster.Resources{CPU: cluster.MilliCPU(demands[vm]), Memory: c.Memory[vm]})
			in.VMs = append(in.VMs, balance.VM{
				Node: at, Entitlement: need, Demand: need, Reserved: balance.Amounts{0, int64(c.Memory[vm]), 0},
			})
		}
		r, err := set.Round(in)
		if err != nil || len(r.Stranded) > 0 {
			return nil, false
		}
		to := maps.Clone(from)
		for i := range r.Moves {
			for _, vm := range r.Moves[i].VMs {
				to[vms[vm]] = cluster.NodeID(in.Nodes[r.Moves[i].To].Name)
			}
		}
		return to, true
	}
}

func amounts(r cluster.Resources) balance.Amounts {
	return balance.Amounts{int64(r.CPU), int64(r.Memory), 0}
}
