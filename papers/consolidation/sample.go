package consolidation

import "math/rand/v2"

// SampleOptions are the size of a configuration. The same options give the same configuration.
type SampleOptions struct {
	Nodes, VMs int
	CPU        int64   // processors of a node
	Memory     []int64 // MiB that a VM may need
	Seed       uint64
}

// nodeMemory is the memory of a node in MiB.
const nodeMemory = 3072

// Sample draws a configuration of §5.1, or of thesis §10.1.1: nodes with 3 GiB, and VMs that need
// 0 or 1 processor and one of the sizes of memory. The cost is the memory of the VMs that move.
//
// Neither text says where the VMs are at first. Here they are on random nodes with enough memory,
// whatever their need of processors. A VM for which no node has enough memory is drawn again.
func Sample(o SampleOptions) *Problem {
	rng := rand.New(rand.NewPCG(o.Seed, uint64(o.VMs)))
	p, home := &Problem{}, []int{}
	free := make([]int64, o.Nodes)
	for n := range free {
		free[n] = nodeMemory
		p.Room = append(p.Room, []int64{o.CPU, nodeMemory})
	}
	for len(p.Need) < o.VMs {
		need := []int64{rng.Int64N(2), o.Memory[rng.IntN(len(o.Memory))]}
		var fit []int
		for n := range free {
			if free[n] >= need[1] {
				fit = append(fit, n)
			}
		}
		if len(fit) == 0 {
			continue
		}
		n := fit[rng.IntN(len(fit))]
		free[n] -= need[1]
		p.Need, home = append(p.Need, need), append(home, n)
	}
	p.Cost = func(item, node int) int64 {
		if node == home[item] {
			return 0
		}
		return p.Need[item][1]
	}
	return p
}
