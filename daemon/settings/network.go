package settings

import (
	"cmp"
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
)

// Network is the bandwidth that migrations and remote resumes share; 0 is unknown.
type Network struct {
	NIC     Rate            `json:"nic"`     // of nodes without a nic of their own
	Label   string          `json:"label"`   // node label that names the rack
	Uplinks map[string]Rate `json:"uplinks"` // of racks
	Dirty   Rate            `json:"dirty"`   // how fast a running VM writes to its memory
}

// limited reports whether any link has a limit.
func (n *Network) limited(nodes []Node) bool {
	return n.NIC.Rate > 0 || len(n.Uplinks) > 0 || slices.ContainsFunc(nodes, func(node Node) bool { return node.NIC.Rate > 0 })
}

// nics returns the bandwidths of the nodes as far as they are known, or nil if no limit of
// the network is known.
func (n *Network) nics(nodes []Node) map[cluster.NodeID]cluster.Rate {
	if !n.limited(nodes) {
		return nil
	}
	nics := map[cluster.NodeID]cluster.Rate{}
	for _, node := range nodes {
		for _, name := range ExpandRange(node.Name) {
			if rate := cmp.Or(node.NIC.Rate, n.NIC.Rate); rate > 0 {
				nics[cluster.NodeID(name)] = rate
			}
		}
	}
	return nics
}

// shared returns the bandwidths that transfers share, or nil if none is known.
func (n *Network) shared(nodes []Node) *ctxswitch.Network {
	nics := n.nics(nodes)
	if nics == nil {
		return nil
	}
	network := &ctxswitch.Network{NIC: nics, Uplink: map[string]cluster.Rate{}, Label: n.Label, Dirty: n.Dirty.Rate}
	for rack, rate := range n.Uplinks {
		network.Uplink[rack] = rate.Rate
	}
	return network
}

func (n *Network) validate(nodes []Node) error {
	if n.Label == "" && len(n.Uplinks) > 0 {
		return cluster.BadField("network.label", n.Label, "the label of nodes that tells their rack")
	}
	for _, rack := range slices.Sorted(maps.Keys(n.Uplinks)) {
		if !slices.ContainsFunc(nodes, func(node Node) bool { return node.Labels[n.Label] == rack }) {
			return cluster.BadField("network.uplinks."+rack, n.Uplinks[rack], "a value that some node has for the label "+n.Label)
		}
	}
	return nil
}
