package oarapi

import (
	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/request"
	"vjob/scheduler"
)

// inventory returns the nodes of the cluster.
func inventory(now *scheduler.Snapshot) request.Inventory {
	w := request.Inventory{Free: make(map[cluster.NodeID]bool, len(now.Nodes))}
	for i := range now.Nodes {
		n := &now.Nodes[i]
		w.Nodes = append(w.Nodes, n.Node)
		w.Free[n.ID] = len(n.VMs) == 0 && !n.Silent && n.Hosts()
	}
	return w
}

// nodeNumbers numbers the nodes, from 1.
func nodeNumbers(now *scheduler.Snapshot) map[cluster.NodeID]int {
	index := make(map[cluster.NodeID]int, len(now.Nodes))
	for i := range now.Nodes {
		index[now.Nodes[i].ID] = i + 1
	}
	return index
}

// The states of nodes in OAR's terms.
const (
	nodeAlive     = "Alive"
	nodeAbsent    = "Absent"
	nodeSuspected = "Suspected"
	nodeDead      = "Dead"
)

// resources returns the nodes in OAR's terms, with those of their jobs that are in own, or with all if
// own is nil.
func resources(now *scheduler.Snapshot, own map[cluster.VJobID]bool) []oar.Resource {
	list := make([]oar.Resource, len(now.Nodes))
	for i := range now.Nodes {
		n := &now.Nodes[i]
		r := oar.Resource{
			ID: i + 1, Node: string(n.ID), State: nodeState(n), Draining: "NO", CPUMilli: int64(n.Capacity.CPU),
			MemoryMiB: int64(n.Capacity.Memory), Jobs: []int64{}, Labels: n.Labels,
		}
		if n.State == cluster.Draining {
			r.Draining = "YES"
		}
		if r.Labels == nil {
			r.Labels = map[string]string{}
		}
		seen := map[cluster.VJobID]bool{}
		for _, vm := range n.VMs {
			if !seen[vm.VJob] && (own == nil || own[vm.VJob]) {
				seen[vm.VJob] = true
				r.Jobs = append(r.Jobs, int64(vm.VJob))
			}
		}
		list[i] = r
	}
	return list
}

func nodeState(n *scheduler.NodeStatus) string {
	switch {
	case n.State == cluster.Down:
		return nodeDead
	case n.State == cluster.Offline:
		return nodeAbsent
	case n.Silent:
		return nodeSuspected
	}
	return nodeAlive
}
