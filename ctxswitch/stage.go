package ctxswitch

import (
	"vjob/cluster"
	"vjob/ctxswitch/placement"
	"vjob/repack"
)

// stage is an instance in the making: the nodes and VMs of a configuration have
// numbers, times are milliseconds.
type stage struct {
	in     repack.Instance
	nodes  []cluster.Node
	where  map[cluster.NodeID]int
	vms    []cluster.VMID
	number map[cluster.VMID]int
	stated []string // the first of the rules, as people have stated them
	unread []string // what is wrong with texts that cannot be understood
	rests  bool     // some VM is not to be touched
	naming bool     // rules of the cluster name VMs
	least  []int64  // what VMs count for with feeds; nil: there are none
}

// newStage has the nodes with the room that claims leave, and no VMs yet; so many come
// at most, beside those of the configuration. Nodes that take nothing any more are on for
// those who are still there; see [stage.drain].
func newStage(c *cluster.Configuration, claims map[cluster.NodeID]cluster.Resources, more int) *stage {
	nodes, vms := c.Nodes(), c.Size()+more
	g := &stage{
		in:    repack.Instance{Dims: placement.Dims, Nodes: make([]repack.Node, 0, len(nodes)), VMs: make([]repack.VM, 0, vms)},
		nodes: nodes, where: make(map[cluster.NodeID]int, len(nodes)),
		vms: make([]cluster.VMID, 0, vms), number: make(map[cluster.VMID]int, vms),
	}
	for i, n := range g.nodes {
		g.where[n.ID] = i
		free := n.Capacity.Minus(claims[n.ID])
		node := repack.Node{Name: string(n.ID), Capacity: []int64{max(0, int64(free.CPU)), max(0, int64(free.Memory))}}
		if (n.State == cluster.Offline || n.State == cluster.Down) && len(c.On(n.ID)) == 0 {
			node.Want = repack.Offline
		}
		g.in.Nodes = append(g.in.Nodes, node)
	}
	return g
}

// at is the number of a node; Nowhere if nobody knows it.
func (g *stage) at(node cluster.NodeID) int {
	if n, known := g.where[node]; known {
		return n
	}
	return repack.Nowhere
}

// enrol gives a VM the next number.
func (g *stage) enrol(vm cluster.VMID, v repack.VM) {
	g.number[vm] = len(g.vms)
	g.vms = append(g.vms, vm)
	g.in.VMs = append(g.in.VMs, v)
	g.rests = g.rests || v.Stays
}

// numbers are those that VMs have here.
func (g *stage) numbers(vms []cluster.VMID) []int {
	list := make([]int, len(vms))
	for i, vm := range vms {
		list[i] = g.number[vm]
	}
	return list
}

// widen has the capacity of a node be no less than what VMs take that are not to
// be touched: they stay there, whether there is room or not, and for others there
// is none.
func (g *stage) widen() {
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
func (g *stage) gangs() {
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
