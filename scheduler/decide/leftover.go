package decide

import (
	"math"

	"vjob/cluster"
)

// Leftover is the capacity that a decision leaves free, in pieces: one on each node that takes VMs, or could if it was
// switched on, beside the VMs that run there once the plan is carried out and beside actions under way. Equal pieces
// are counted together, since a full cluster has few different ones. The zero value is a cluster without nodes.
type Leftover struct {
	pieces map[cluster.Resources]int // nodes with so much free
	free   cluster.Resources         // in sum
}

// Leftover returns what the decision leaves free.
func (d *Decision) Leftover() Leftover {
	at, claims := d.Plan.Target, d.final.trial.claims
	if at == nil {
		at = d.final.trial.current
	}
	used := map[cluster.NodeID]cluster.Resources{}
	for _, is := range at.All() {
		if is.State == cluster.VMRunning {
			used[is.Node] = used[is.Node].Plus(is.Need)
		}
	}
	l := Leftover{pieces: map[cluster.Resources]int{}}
	nodes := at.Nodes()
	last, count := cluster.Resources{}, 0 // nodes in a row with as much: of a large cluster many are alike
	for i := range nodes {
		n := &nodes[i]
		if !n.Hosts() && !d.final.supply.Off[n.ID] {
			continue
		}
		left := n.Capacity.Minus(used[n.ID]).Minus(claims[n.ID])
		left = cluster.Resources{CPU: max(0, left.CPU), Memory: max(0, left.Memory)}
		if left != last {
			l.pieces[last] += count
			last, count = left, 0
		}
		count++
		l.free = l.free.Plus(left)
	}
	l.pieces[last] += count
	return l
}

// Missing returns what a vjob needs beyond what is free in sum.
func (l *Leftover) Missing(need cluster.Resources) cluster.Resources {
	missing := need.Minus(l.free)
	return cluster.Resources{CPU: max(0, missing.CPU), Memory: max(0, missing.Memory)}
}

// MayHold reports whether VMs with these needs may find places. If not, they certainly find none unless others move or
// leave: for one of the needs there are fewer places than VMs that need at least as much.
func (l *Leftover) MayHold(needs []cluster.Resources) bool {
	tried := map[cluster.Resources]bool{}
	for _, need := range needs {
		if tried[need] {
			continue
		}
		tried[need] = true
		asking := 0
		for _, other := range needs {
			if need.Fits(other) {
				asking++
			}
		}
		if l.places(need) < asking {
			return false
		}
	}
	return true
}

// places returns how many VMs with a need there are places for.
func (l *Leftover) places(need cluster.Resources) (n int) {
	for piece, nodes := range l.pieces {
		most := math.MaxInt32
		if need.CPU > 0 {
			most = min(most, int(piece.CPU/need.CPU))
		}
		if need.Memory > 0 {
			most = min(most, int(piece.Memory/need.Memory))
		}
		n += nodes * most
	}
	return n
}
