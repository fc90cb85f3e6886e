package improve

import (
	"maps"
	"time"

	"vjob/cluster"
)

// moves is the memory of VMs that were moved lately. A restart loses it.
type moves struct {
	stay time.Duration                                 // for which a move is remembered
	from map[cluster.VMID]map[cluster.NodeID]time.Time // the nodes that each VM has left, and when
}

func newMoves(stay time.Duration) moves {
	return moves{stay: stay, from: map[cluster.VMID]map[cluster.NodeID]time.Time{}}
}

// note records that VMs are moved.
func (m *moves) note(list []cluster.Move, now time.Time) {
	for _, move := range list {
		if m.from[move.VM] == nil {
			m.from[move.VM] = map[cluster.NodeID]time.Time{}
		}
		m.from[move.VM][move.From] = now
	}
}

// forget forgets old moves.
func (m *moves) forget(now time.Time) {
	for vm, nodes := range m.from {
		maps.DeleteFunc(nodes, func(_ cluster.NodeID, at time.Time) bool { return now.Sub(at) >= m.stay })
		if len(nodes) == 0 {
			delete(m.from, vm)
		}
	}
}

// clone returns a copy.
func (m *moves) clone() *moves {
	c := newMoves(m.stay)
	for vm, nodes := range m.from {
		c.from[vm] = maps.Clone(nodes)
	}
	return &c
}

// keeps reports whether a VM stays because it was moved lately.
func (m *moves) keeps(vm cluster.VMID) bool { return len(m.from[vm]) > 0 }

// left returns the nodes that a VM has left lately.
func (m *moves) left(vm cluster.VMID) map[cluster.NodeID]time.Time { return m.from[vm] }
