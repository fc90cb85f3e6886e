package ctxswitch

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/placement"
	"vjob/repack"
)

// Network is the links that transfers share. A migration and a remote resume cross the
// NICs of both nodes, and the uplinks of both racks where these differ; a link is as
// wide in as out. A plan gives each transfer a rate, so that no link is asked for more
// than it has.
type Network struct {
	NIC    map[cluster.NodeID]cluster.Rate // absent: no limit
	Uplink map[string]cluster.Rate         // by the value of the label; absent: no limit
	Label  string                          // which tells the racks of nodes, such as "rack"
	// Dirty is how fast a running VM writes to its memory: that has to be sent again.
	Dirty cluster.Rate
}

// bytesPerMiB is the unit of amounts that are sent: rates of links are whole numbers
// of bytes in a millisecond.
const bytesPerMiB = 1 << 20

// perTick is a rate as instances count it.
func perTick(r cluster.Rate) int64 {
	if r <= 0 {
		return 0
	}
	return max(1, int64(r)/int64(time.Second/placement.Tick))
}

// perSecond is a rate of an instance.
func perSecond(rate int64) cluster.Rate {
	return cluster.Rate(rate * int64(time.Second/placement.Tick))
}

// postNetwork gives the instance its links; nil is a network that limits nothing.
func (g *instanceBuilder) postNetwork(n *Network) {
	if n == nil {
		return
	}
	net := &repack.Network{NIC: make([]int64, len(g.nodes))}
	racks := map[string]int{}
	for i, node := range g.nodes {
		net.NIC[i] = perTick(n.NIC[node.ID])
		name := node.Labels[n.Label]
		r, known := racks[name]
		if !known {
			r = len(racks)
			racks[name] = r
			net.Uplink = append(net.Uplink, perTick(n.Uplink[name]))
		}
		g.node(i).Rack = r
	}
	g.in.Network = net
	for i := range g.in.VMs {
		v := &g.in.VMs[i]
		v.Memory, v.Dirty = v.Next[1]*bytesPerMiB, perTick(n.Dirty)
	}
}
