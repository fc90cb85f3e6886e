package decide

import (
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
)

// Site is the nodes of a cluster with what they offer to vjobs. It does not change. It is kept from one decision to the next, since
// hardly any node changes between them.
type Site struct {
	nodes    []*execute.NodeReport
	empty    *cluster.Configuration // without VMs
	planning *ctxswitch.Nodes       // the same for plans
}

// With returns the site of some nodes, which mostly carry so many transfers at once. It costs little as long as they offer the same as
// those of this one; nil is the site without nodes.
func (s *Site) With(nodes []*execute.NodeReport, transfers int) *Site {
	switch {
	case s != nil && slices.Equal(s.nodes, nodes):
		return s
	case s == nil || !slices.EqualFunc(s.nodes, nodes, func(a, b *execute.NodeReport) bool { return a == b || a.ID == b.ID }):
		offers := make([]cluster.Node, len(nodes))
		for i, n := range nodes {
			offers[i] = offered(n)
		}
		empty := cluster.NewConfiguration(offers...)
		empty.Lend()
		return &Site{nodes, empty, ctxswitch.NewNodes(empty, transfers)}
	}
	empty := s.empty
	for i, n := range nodes {
		if n == s.nodes[i] {
			continue
		}
		then, now := offered(s.nodes[i]), offered(n)
		if alike(&then, &now) {
			continue
		}
		if empty == s.empty {
			empty = empty.Clone()
		}
		empty.SetNode(now)
	}
	if empty == s.empty {
		return &Site{nodes, empty, s.planning}
	}
	empty.Lend()
	return &Site{nodes, empty, ctxswitch.NewNodes(empty, transfers)}
}

// offered returns a node with what it offers to vjobs.
func offered(n *execute.NodeReport) cluster.Node {
	offer, free := n.Node, n.Capacity.Minus(n.Foreign)
	offer.Capacity = cluster.Resources{CPU: max(0, free.CPU), Memory: max(0, free.Memory)}
	return offer
}

// alike reports whether two nodes of the same name do not differ.
func alike(a, b *cluster.Node) bool {
	return a.Capacity == b.Capacity && a.State == b.State && a.Maintenance == b.Maintenance && maps.Equal(a.Labels, b.Labels)
}
