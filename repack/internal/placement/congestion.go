package placement

import (
	"vjob/repack"
	"vjob/repack/internal/problem"
)

// congestion estimates how long transfers wait for each other, link by link and without a
// schedule. Of two transfers that share a link, the one that costs less to delay waits until
// the other has passed; for one link that is the cost of the best order (Smith's rule). Two
// transfers that share several links are counted on one of them only.
type congestion struct {
	*problem.Problem
	onLink     [][]int // VMs that cross each link
	target     []int   // the node each VM goes to
	limitedNIC []bool  // nodes with a limited NIC
	volume     []int64 // the amount each VM sends, with what it writes meanwhile
	sum        int64   // of all waits, weighted, in parts of a tick
}

// parts of a tick is the unit of times here.
const parts = 64

// newCongestion returns the congestion of no transfer at all; nil if there is no network.
func newCongestion(m *problem.Problem) *congestion {
	if m.In.Network == nil {
		return nil
	}
	j := &congestion{
		Problem: m, onLink: make([][]int, m.In.Links()), target: make([]int, len(m.In.VMs)), limitedNIC: make([]bool, len(m.In.Nodes)),
		volume: make([]int64, len(m.In.VMs)),
	}
	for n := range j.limitedNIC {
		j.limitedNIC[n] = m.In.Bandwidth(repack.Out(n)) > 0
	}
	for _, vm := range m.Wanted {
		v := &m.In.VMs[vm]
		j.volume[vm] = v.Memory
		if m.Home[vm] == repack.Nowhere {
			continue
		}
		if out := m.In.Bandwidth(repack.Out(v.Host)); v.State == repack.Running && !v.Paused && out > v.Dirty {
			j.volume[vm] += v.Memory * v.Dirty / (out - v.Dirty)
		}
	}
	return j
}

// delay returns the cost of one more VM going to a node, in parts of a tick.
func (j *congestion) delay(vm, node int) (sum int64) {
	weight := j.WaitCost(vm)
	var buffer [4]repack.Link
	for _, l := range j.path(buffer[:0], vm, node) {
		bandwidth := j.In.Bandwidth(l)
		mine := parts * j.volume[vm] / bandwidth
		for _, other := range j.onLink[l] {
			if !j.metBefore(l, vm, node, other) {
				sum += min(mine*j.WaitCost(other), parts*j.volume[other]/bandwidth*weight)
			}
		}
	}
	return sum
}

// path appends the links that a VM crosses on its way to a node.
func (j *congestion) path(list []repack.Link, vm, node int) []repack.Link {
	if j.Home[vm] == repack.Nowhere || j.volume[vm] == 0 {
		return list
	}
	return j.In.AppendCrossed(list, j.Home[vm], node)
}

// metBefore reports whether two VMs that share a link also share one before it: NICs are
// usually narrower than uplinks.
func (j *congestion) metBefore(l repack.Link, vm, node, other int) bool {
	a, b := j.Home[vm], j.Home[other]
	switch {
	case l == repack.Out(a):
		return false
	case a == b && j.limitedNIC[a]:
		return true
	case l == repack.In(node):
		return false
	case j.target[other] == node && j.limitedNIC[node]:
		return true
	default: // an uplink: the one into a rack comes after the one out of a rack
		r := j.In.Nodes[a].Rack
		return l%2 == 1 && r == j.In.Nodes[b].Rack && r < len(j.In.Network.Uplink) && j.In.Network.Uplink[r] > 0
	}
}

// put adds the transfer of a VM to a node.
func (j *congestion) put(vm, node int) {
	if j == nil {
		return
	}
	j.sum += j.delay(vm, node)
	j.target[vm] = node
	var buffer [4]repack.Link
	for _, l := range j.path(buffer[:0], vm, node) {
		j.onLink[l] = append(j.onLink[l], vm)
	}
}

// lift removes the transfer of a VM to a node.
func (j *congestion) lift(vm, node int) {
	if j == nil {
		return
	}
	var buffer [4]repack.Link
	for _, l := range j.path(buffer[:0], vm, node) {
		j.onLink[l] = Without(j.onLink[l], vm)
	}
	j.sum -= j.delay(vm, node)
}

// Wait returns the cost of one more VM going to a node, in the objective.
func (j *congestion) Wait(vm, node int) int64 {
	if j == nil {
		return 0
	}
	return j.delay(vm, node) / parts
}

// cost returns the cost of all waits, in the objective.
func (j *congestion) cost() int64 {
	if j == nil {
		return 0
	}
	return j.sum / parts
}

// Uncertainty returns how much of the cost may be too much: transfers run side by side where a
// link is wide enough.
func (j *congestion) Uncertainty() int64 { return j.cost() / 10 }
