package schedule

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/problem"
)

// occupancy is where the VMs are, and the free room of each node, over time.
type occupancy struct {
	problem    *problem.Problem
	free       []int64  // of each node, now
	lowestFree []int64  // the least free room of each node since VMs that stay have shrunk; nil if none has
	position   [][2]int // the node of each VM now, and the node that it is going to
	hasNext    []bool   // VMs that occupy their node with the next demand
	shrunk     []bool   // VMs that have given something back where they stay
	vmCount    []int    // VMs on each node now
}

func newOccupancy(m *problem.Problem) occupancy {
	o := occupancy{
		problem: m, free: slices.Clone(m.Room), position: make([][2]int, len(m.In.VMs)),
		hasNext: make([]bool, len(m.In.VMs)), shrunk: make([]bool, len(m.In.VMs)), vmCount: make([]int, len(m.In.Nodes)),
	}
	for vm := range m.In.VMs {
		o.position[vm] = [2]int{repack.Nowhere, repack.Nowhere}
		if v := &m.In.VMs[vm]; v.State == repack.Running {
			o.position[vm][0] = v.Host
			o.vmCount[v.Host]++
			o.release(vm, v.Host, -1)
		}
	}
	return o
}

// hasRoom reports whether a VM could come to a node now.
func (o *occupancy) hasRoom(vm, node int) bool {
	m := o.problem
	v, n := vm*m.Dims, node*m.Dims
	for d := range m.Dims {
		if need := m.Next[v+d]; need > 0 && need > o.free[n+d] {
			return false
		}
	}
	return true
}

// occupy changes the free room of a node by the next demand of a VM.
func (o *occupancy) occupy(vm, node int, sign int64) {
	m := o.problem
	for d := range m.Dims {
		o.free[node*m.Dims+d] += sign * m.Next[vm*m.Dims+d]
	}
}

// release changes the free room of a node by what a VM on it occupies.
func (o *occupancy) release(vm, node int, sign int64) {
	m := o.problem
	demand := m.Now
	if o.hasNext[vm] {
		demand = m.Next
	}
	for d := range m.Dims {
		o.free[node*m.Dims+d] += sign * demand[vm*m.Dims+d]
	}
}

// arrive takes the room of a VM on a node that it begins to go to.
func (o *occupancy) arrive(vm, node int) {
	o.occupy(vm, node, -1)
	o.noteLowest(node)
	o.position[vm][1] = node
	o.vmCount[node]++
}

// settle records that a VM that came from no node is on its new node.
func (o *occupancy) settle(vm, node int) {
	o.position[vm], o.hasNext[vm] = [2]int{node, repack.Nowhere}, true
}

// depart frees the room of a VM on the node that it has left. It is on another node now, or on
// none.
func (o *occupancy) depart(vm, from, to int) {
	o.release(vm, from, 1)
	o.hasNext[vm] = to != repack.Nowhere
	o.position[vm] = [2]int{to, repack.Nowhere}
	o.vmCount[from]--
}
