package ctxswitch

import (
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/placement"
	"vjob/repack"
)

// instanceBuilder builds an instance: it numbers the nodes and VMs of a configuration. Times are
// in milliseconds.
type instanceBuilder struct {
	in          repack.Instance
	shared      bool // the nodes of the instance belong to others too: see [instanceBuilder.node]
	nodes       []cluster.Node
	nodeIndex   func(node cluster.NodeID) (i int, known bool)
	vms         []cluster.VMID
	vmNumbers   vmNumbers
	statedRules []string // the first of the rules, as users have stated them
	preferred   []bool   // of those, the preferred ones
	yielding    bool     // preferred rules are soft: see [instanceBuilder.dropPreferred]
	unread      []string // the errors of texts that do not compile
	hasFixed    bool     // some VM may not be touched
	namesVMs    bool     // rules of the cluster name VMs
	minLoad     []int64  // by VM, the load that power feeds count; nil without feeds
	amounts     []int64  // the memory of demands
}

// newInstanceBuilder returns a builder with the nodes of a configuration, less the room of claims, and without VMs;
// more is the number of VMs expected beside those of the configuration. Nodes that take no more
// VMs are on while VMs are there, see [instanceBuilder.closeNodes].
func newInstanceBuilder(c *cluster.Configuration, nodes *Nodes, claims map[cluster.NodeID]cluster.Resources, more int) *instanceBuilder {
	vms := c.Size() + more
	g := &instanceBuilder{
		in:     repack.Instance{Dims: placement.Dims, Nodes: nodes.list, VMs: make([]repack.VM, 0, vms)},
		shared: true, nodes: nodes.of, nodeIndex: c.Index,
		vms: make([]cluster.VMID, 0, vms), vmNumbers: vmNumbers{vjobs: map[cluster.VJobID]*ranks{}},
	}
	for id, claim := range claims {
		if i, known := c.Index(id); known {
			free := g.nodes[i].Capacity.Minus(claim)
			g.node(i).Capacity = []int64{max(0, int64(free.CPU)), max(0, int64(free.Memory))}
		}
	}
	for _, i := range nodes.closed {
		if len(c.On(g.nodes[i].ID)) > 0 {
			g.node(i).Want = repack.Online
		}
	}
	return g
}

// node returns a node of the instance to be changed. Its capacities are shared and never change: it may get others.
func (g *instanceBuilder) node(i int) *repack.Node {
	if g.shared {
		g.in.Nodes, g.shared = slices.Clone(g.in.Nodes), false
	}
	return &g.in.Nodes[i]
}

// indexOf returns the number of a node, or Nowhere if the node is unknown.
func (g *instanceBuilder) indexOf(node cluster.NodeID) int {
	if n, known := g.nodeIndex(node); known {
		return n
	}
	return repack.Nowhere
}

// numberOf returns the number of a VM; 0 if it has none.
func (g *instanceBuilder) numberOf(vm cluster.VMID) int {
	i, _ := g.vmNumbers.of(vm)
	return i
}

// demand returns resources by dimension. Demands of the VMs that are expected are cut from one piece of memory.
func (g *instanceBuilder) demand(r cluster.Resources) []int64 {
	if len(g.amounts)+len(placement.Dims) > cap(g.amounts) {
		g.amounts = make([]int64, 0, len(placement.Dims)*max(64, cap(g.in.VMs)-len(g.in.VMs)))
	}
	at := len(g.amounts)
	g.amounts = append(g.amounts, int64(r.CPU), int64(r.Memory))
	return slices.Clip(g.amounts[at:])
}

// addVM gives a VM the next number.
func (g *instanceBuilder) addVM(vm cluster.VMID, v repack.VM) {
	g.vmNumbers.set(vm, len(g.vms))
	g.vms = append(g.vms, vm)
	g.in.VMs = append(g.in.VMs, v)
	g.hasFixed = g.hasFixed || v.Stays
}

// indices returns the numbers of VMs.
func (g *instanceBuilder) indices(vms []cluster.VMID) []int {
	list := make([]int, len(vms))
	for i, vm := range vms {
		list[i] = g.numberOf(vm)
	}
	return list
}

// widen raises the capacity of nodes to the demand of the VMs that stay there: they stay even
// where the node is too small, and leave no room for others.
func (g *instanceBuilder) widen() {
	sums := map[int][2]int64{}
	for i := range g.in.VMs {
		if v := &g.in.VMs[i]; v.Stays && v.State == repack.Running {
			sum := sums[v.Host]
			sums[v.Host] = [2]int64{sum[0] + v.Next[0], sum[1] + v.Next[1]}
		}
	}
	for n, sum := range sums {
		if has := g.in.Nodes[n].Capacity; has[0] < sum[0] || has[1] < sum[1] {
			g.node(n).Capacity = []int64{max(has[0], sum[0]), max(has[1], sum[1])}
		}
	}
}

// gangs groups the VMs of each vjob.
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
