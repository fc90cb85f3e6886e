package planted

import (
	"math/rand/v2"

	"vjob/repack"
)

// Wires describe the network of a problem, in any unit of amounts.
type Wires struct {
	NIC     int64 // bandwidth of each node
	Uplink  int64 // bandwidth of each rack; 0 is no limit
	Rack    int   // nodes in a rack; 0 keeps the racks of the problem
	PerUnit int64 // amount to copy for each unit of the second resource; 0 is 1
	Dirty   int64 // what VMs write per tick at most; less than NIC
	Seed    uint64
}

// Connect gives a problem a network, and its VMs amounts to copy. The durations of the actions
// become those of transfers that have the links alone.
func Connect(in *repack.Instance, w Wires) {
	rng := rand.New(rand.NewPCG(w.Seed, uint64(len(in.VMs))))
	net := &repack.Network{}
	for n := range in.Nodes {
		if w.Rack > 0 {
			in.Nodes[n].Rack = n / w.Rack
		}
		net.NIC = append(net.NIC, w.NIC)
		for len(net.Uplink) <= in.Nodes[n].Rack {
			net.Uplink = append(net.Uplink, w.Uplink)
		}
	}
	for vm := range in.VMs {
		v := &in.VMs[vm]
		v.Memory = max(1, w.PerUnit) * v.Next[1]
		v.Dirty = rng.Int64N(w.Dirty + 1)
		image := repack.Transfer{Amount: v.Memory, Base: v.Takes.ResumeRemote}
		live := repack.Transfer{Amount: v.Memory, Dirty: v.Dirty}
		v.Takes.ResumeRemote, v.Takes.Migrate = image.Lasts(w.NIC), live.Lasts(w.NIC)
	}
	in.Network = net
}
