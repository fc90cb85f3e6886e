package entitlement

import "vjob/cluster"

// MaxWeight is the largest CPU weight of cgroup v2.
const MaxWeight = 10_000

// idleShare is the part of its size by which a VM counts at least. An idle VM is entitled to next to nothing
// under contention; it has to be able to wake before the next division.
const idleShare = 20

// weigh returns the weight of each VM: in proportion, on each node, to the CPU that it should get there. A weight
// is that CPU in thousandths of a processor, or less on a node with a VM of more than ten processors.
func weigh(vms []VM, cpu []cluster.MilliCPU) []int {
	counts, largest := make([]int64, len(vms)), map[cluster.NodeID]int64{}
	for i := range vms {
		v := &vms[i]
		counts[i] = max(int64(cpu[i]), int64(v.Size.CPU)/idleShare)
		largest[v.Node] = max(largest[v.Node], counts[i], MaxWeight)
	}
	weights := make([]int, len(vms))
	for i := range vms {
		weights[i] = max(1, int(rounded(counts[i])*MaxWeight/rounded(largest[vms[i].Node])))
	}
	return weights
}

// rounded returns a number rounded to two digits: small changes of demand change no weight.
func rounded(n int64) int64 {
	unit := int64(1)
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit/2) / unit * unit
}
