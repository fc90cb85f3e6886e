package placement

import (
	"vjob/repack"
	"vjob/repack/internal/problem"
)

// congestion estimates how long transfers wait for each other, link by link and without a
// schedule: of two that share a link one waits until the other has passed, the one
// that it costs less. For one link that is what the best order costs (Smith's
// rule). Two that share several links meet on one of them only.
type congestion struct {
	*problem.Problem
	onLink     [][]int // VMs whose transfers cross each link
	target     []int   // where they go
	limitedNIC []bool  // nodes whose NIC has a limit
	volume     []int64 // what a VM sends, with what it writes meanwhile
	sum        int64   // of all waits, weighted, in parts of a tick
}

// parts of a tick are what times are rounded to here.
const parts = 64

// newJam is that of nobody on his way; nil if there is no network.
func newJam(m *problem.Problem) *congestion {
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
		if j.volume[vm] = v.Memory; m.Home[vm] == repack.Nowhere {
			continue
		}
		if out := m.In.Bandwidth(repack.Out(v.Host)); v.State == repack.Running && !v.Paused && out > v.Dirty {
			j.volume[vm] += v.Memory * v.Dirty / (out - v.Dirty)
		}
	}
	return j
}

// delay is what it costs, in parts of a tick, that a VM goes to a node as well.
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

// path adds the links that a VM crosses on its way to a node.
func (j *congestion) path(list []repack.Link, vm, node int) []repack.Link {
	if j.Home[vm] == repack.Nowhere || j.volume[vm] == 0 {
		return list
	}
	return j.In.AppendCrossed(list, j.Home[vm], node)
}

// metBefore reports whether the ways of two VMs that share a link share another one before
// it: NICs are narrower than uplinks as a rule.
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
	default: // an uplink: that in to a rack comes after that out of one
		r := j.In.Nodes[a].Rack
		return l%2 == 1 && r == j.In.Nodes[b].Rack && r < len(j.In.Network.Uplink) && j.In.Network.Uplink[r] > 0
	}
}

// put has a VM go to a node.
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

// lift takes a VM off its way to a node again.
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

// Wait is what it costs that a VM goes to a node as well, in the objective.
func (j *congestion) Wait(vm, node int) int64 {
	if j == nil {
		return 0
	}
	return j.delay(vm, node) / parts
}

// cost is that of all waits in the objective.
func (j *congestion) cost() int64 {
	if j == nil {
		return 0
	}
	return j.sum / parts
}

// Uncertainty is how much of the cost may be too much: transfers go side by side where a
// link is wide enough.
func (j *congestion) Uncertainty() int64 { return j.cost() / 10 }
