package ctxswitch

import (
	"vjob/cluster"
	"vjob/repack"
)

// memory is the dimension of memory, see [placement.Dims].
const memory = 1

// TakePaused adds a vjob that is paused in memory where its VMs are, if their nodes take VMs and have
// the memory free beside all vjobs taken. Call it after the last [Packing.Take].
func (p *Packing) TakePaused(id cluster.VJobID) bool {
	p.open(id)
	if _, lost := p.lost[id]; lost || p.fault != nil {
		return false
	}
	p.countMemory()
	need := map[int]int64{}
	for _, vm := range p.vjobs[id] {
		v := &p.builder.in.VMs[vm]
		if v.Host == repack.Nowhere || p.trial.At(vm) != repack.Nowhere {
			return false
		}
		need[v.Host] += v.Next[memory]
	}
	for n, mib := range need {
		if mib > p.memory[n] {
			return false
		}
	}
	for n, mib := range need {
		p.memory[n] -= mib
	}
	return true
}

// countMemory computes the memory that is left on the nodes that take VMs, beside all vjobs
// taken.
func (p *Packing) countMemory() {
	if p.memory != nil {
		return
	}
	p.memory = make([]int64, len(p.builder.in.Nodes))
	for n := range p.builder.in.Nodes {
		if p.builder.nodes[n].Hosts() {
			p.memory[n] = p.builder.in.Nodes[n].Capacity[memory]
		}
	}
	for vm := range p.builder.in.VMs {
		if n := p.trial.At(vm); n != repack.Nowhere {
			p.memory[n] -= p.builder.in.VMs[vm].Next[memory]
		}
	}
}
