package execute

import (
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
)

// Holders lists the vjobs that need a node, in order: one of their VMs is there or on the way, one of their images lies
// there, or they are containers with resources of the node.
func (e *Executor) Holders(node cluster.NodeID) (list []cluster.VJobID) {
	for _, id := range slices.Sorted(maps.Keys(e.gangs.live)) {
		if e.gangs.live[id].holds(node) {
			list = append(list, id)
		}
	}
	if id, reserved := e.PowerStates.ContainerOn(node); reserved && !slices.Contains(list, id) {
		list = append(list, id)
	}
	return list
}

// holds reports whether a part of the gang is on a node or on the way there.
func (p *gangState) holds(node cluster.NodeID) bool {
	return slices.ContainsFunc(p.rec.Members, func(m gang.Member) bool {
		return m.Next == node || m.Image != nil && m.Image.Node == node || m.Node == node && !p.away()
	})
}
