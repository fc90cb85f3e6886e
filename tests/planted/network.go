package planted

import (
	"math/rand/v2"

	"vjob/repack"
)

// Wires say what network joins the nodes of a problem, in any unit of amounts.
type Wires struct {
	NIC     int64 // bandwidth of each node
	Uplink  int64 // of each rack; 0 is no limit
	Rack    int   // how many nodes there are in a rack; 0 leaves the racks as they are
	PerUnit int64 // what must be copied for each unit of the second resource; 0 is 1
	Dirty   int64 // VMs write so much per tick at most; less than NIC
	Seed    uint64
}

// Connect gives a problem a network, and its VMs something to copy over it. What
// takes less than that with nothing else on the links then takes as long: the plain
// model knows how long each transfer takes alone.
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
