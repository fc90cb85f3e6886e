package ctxswitch

import (
	"vjob/cluster"
	"vjob/ctxswitch/placement"
	"vjob/repack"
)

// Nodes is the nodes of configurations as instances have them. It does not change, and is kept for all problems on the same
// nodes: on a large cluster it would be most of a small problem.
type Nodes struct {
	of     []cluster.Node // see [cluster.Configuration.Nodes]
	list   []repack.Node  // as if no VM were there
	closed []int          // those that are off while no VM is there
}

// NewNodes returns the nodes of a configuration. Problems on them mostly have this limit of transfers.
func NewNodes(c *cluster.Configuration, limit int) *Nodes {
	ns := &Nodes{of: c.Nodes()}
	ns.list = make([]repack.Node, len(ns.of))
	capacities := make([]int64, 0, len(placement.Dims)*len(ns.of)) // one piece of memory for all
	for i := range ns.of {
		n, at := &ns.of[i], len(capacities)
		capacities = append(capacities, max(0, int64(n.Capacity.CPU)), max(0, int64(n.Capacity.Memory)))
		ns.list[i] = repack.Node{Name: string(n.ID), Capacity: capacities[at:len(capacities):len(capacities)], Transfers: limit}
		if n.State == cluster.Offline || n.State == cluster.Down {
			ns.list[i].Want = repack.Offline
			ns.closed = append(ns.closed, i)
		}
	}
	return ns
}

// or returns the nodes if they are those of a configuration, else new ones.
func (ns *Nodes) or(c *cluster.Configuration) *Nodes {
	nodes := c.Nodes()
	if ns != nil && len(nodes) == len(ns.of) && (len(nodes) == 0 || &nodes[0] == &ns.of[0]) {
		return ns
	}
	return NewNodes(c, 0)
}
