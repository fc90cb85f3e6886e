package scheduler

import (
	"slices"

	"vjob/cluster"
)

// pin counts a member that must not be touched: where it will be, and as a claim on
// every other node that it may need until then.
func (p *picture) pin(vm cluster.VMID, need cluster.Resources, at cluster.NodeID, holds []cluster.NodeID) {
	p.pinned[vm] = true
	if _, known := p.current.Node(at); !known && len(holds) > 0 {
		at = holds[len(holds)-1]
	}
	if _, known := p.current.Node(at); known {
		p.current.SetRunning(vm, need, at)
	}
	p.claim(need, slices.DeleteFunc(holds, func(n cluster.NodeID) bool { return n == at }))
}

// claim counts room that is spoken for on nodes.
func (p *picture) claim(need cluster.Resources, nodes []cluster.NodeID) {
	for _, n := range nodes {
		p.claims[n] = p.claims[n].Plus(need)
	}
}
