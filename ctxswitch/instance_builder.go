package ctxswitch

import (
	"vjob/cluster"
	"vjob/ctxswitch/placement"
	"vjob/repack"
)

// instanceBuilder is an instance in the making: the nodes and VMs of a configuration have
// numbers, times are milliseconds.
type instanceBuilder struct {
	in          repack.Instance
	nodes       []cluster.Node
	nodeIndex   map[cluster.NodeID]int
	vms         []cluster.VMID
	vmIndex     map[cluster.VMID]int
	statedRules []string // the first of the rules, as people have stated them
	unread      []string // what is wrong with texts that cannot be understood
	hasFixed    bool     // some VM is not to be touched
	namesVMs    bool     // rules of the cluster name VMs
	minLoad     []int64  // what VMs count for with feeds; nil: there are none
}

// newInstanceBuilder has the nodes with the room that claims leave, and no VMs yet; so many come
// at most, beside those of the configuration. Nodes that take nothing any more are on for
// those who are still there; see [instanceBuilder.drain].
func newInstanceBuilder(c *cluster.Configuration, claims map[cluster.NodeID]cluster.Resources, more int) *instanceBuilder {
	nodes, vms := c.Nodes(), c.Size()+more
	g := &instanceBuilder{
		in:    repack.Instance{Dims: placement.Dims, Nodes: make([]repack.Node, 0, len(nodes)), VMs: make([]repack.VM, 0, vms)},
		nodes: nodes, nodeIndex: make(map[cluster.NodeID]int, len(nodes)),
		vms: make([]cluster.VMID, 0, vms), vmIndex: make(map[cluster.VMID]int, vms),
	}
	for i, n := range g.nodes {
		g.nodeIndex[n.ID] = i
		free := n.Capacity.Minus(claims[n.ID])
		node := repack.Node{Name: string(n.ID), Capacity: []int64{max(0, int64(free.CPU)), max(0, int64(free.Memory))}}
		if (n.State == cluster.Offline || n.State == cluster.Down) && len(c.On(n.ID)) == 0 {
			node.Want = repack.Offline
		}
		g.in.Nodes = append(g.in.Nodes, node)
	}
	return g
}

// indexOf is the number of a node; Nowhere if nobody knows it.
func (g *instanceBuilder) indexOf(node cluster.NodeID) int {
	if n, known := g.nodeIndex[node]; known {
		return n
	}
	return repack.Nowhere
}

// addVM gives a VM the next number.
func (g *instanceBuilder) addVM(vm cluster.VMID, v repack.VM) {
	g.vmIndex[vm] = len(g.vms)
	g.vms = append(g.vms, vm)
	g.in.VMs = append(g.in.VMs, v)
	g.hasFixed = g.hasFixed || v.Stays
}

// indices are those that VMs have here.
func (g *instanceBuilder) indices(vms []cluster.VMID) []int {
	list := make([]int, len(vms))
	for i, vm := range vms {
		list[i] = g.vmIndex[vm]
	}
	return list
}

// widen has the capacity of a node be no less than what VMs take that are not to
// be touched: they stay there, whether there is room or not, and for others there
// is none.
func (g *instanceBuilder) widen() {
	sums := make([][2]int64, len(g.in.Nodes))
	for i := range g.in.VMs {
		if v := &g.in.VMs[i]; v.Stays && v.State == repack.Running {
			sums[v.Host][0] += v.Next[0]
			sums[v.Host][1] += v.Next[1]
		}
	}
	for n := range sums {
		for d := range sums[n] {
			g.in.Nodes[n].Capacity[d] = max(g.in.Nodes[n].Capacity[d], sums[n][d])
		}
	}
}

// gangs has the VMs of each vjob act together.
func (g *instanceBuilder) gangs() {
	of := map[cluster.VJobID]int{}
	for i, vm := range g.vms {
		n, ok := of[vm.VJob]
		if !ok {
			n = len(g.in.Gangs)
			of[vm.VJob] = n
			g.in.Gangs = append(g.in.Gangs, nil)
		}
		g.in.Gangs[n] = append(g.in.Gangs[n], i)
	}
}
