package consolidation_test

import (
	"math/rand/v2"

	"vjob/papers/consolidation"
	"vjob/repack"
	"vjob/tests/planted"
)

// thesis draws a configuration as thesis §10.1.1 and §10.1.2 describe theirs: nodes
// with 2 processors and 3 GiB, VMs that need 0 or 1 of a processor and one of the
// given sizes of memory. What they do not say is where the VMs are at first: here on
// random nodes with enough memory for them, as memory cannot be overloaded, whatever
// their need of processors. A VM for which no node has enough is drawn anew.
func thesis(nodes, vms int, memory []int64, seed uint64) *consolidation.Problem {
	rng := rand.New(rand.NewPCG(seed, uint64(vms)))
	p, home := &consolidation.Problem{}, []int{}
	free := make([]int64, nodes)
	for n := range free {
		free[n] = 3072
		p.Room = append(p.Room, []int64{2, 3072})
	}
	for len(p.Need) < vms {
		need := []int64{rng.Int64N(2), memory[rng.IntN(len(memory))]}
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

// The sets of thesis §10.1.2: 2, 4 and 8 classes of equal VMs.
var (
	twoClasses   = []int64{1024}
	fourClasses  = []int64{1024, 2048}
	eightClasses = []int64{512, 1024, 1536, 2048}
)

// uniform draws items of two dimensions, each from 1 to most of a room of 1000.
func uniform(items int, least, most int64, seed uint64) *consolidation.Problem {
	rng := rand.New(rand.NewPCG(seed, 7))
	p := &consolidation.Problem{}
	for range items {
		p.Room = append(p.Room, []int64{1000, 1000})
		p.Need = append(p.Need, []int64{least + rng.Int64N(most-least+1), least + rng.Int64N(most-least+1)})
	}
	return p
}

// garden is a problem of which a packing is known, as full as wanted.
func garden(nodes int, fill float64, seed uint64) *consolidation.Problem {
	in := planted.New(planted.Options{Nodes: nodes, Fill: fill, Seed: seed})
	p := &consolidation.Problem{}
	for n := range in.Nodes {
		p.Room = append(p.Room, in.Nodes[n].Capacity)
	}
	for vm := range in.VMs {
		p.Need = append(p.Need, in.VMs[vm].Next)
	}
	p.Cost = func(item, node int) int64 {
		if v := &in.VMs[item]; v.State == repack.Running && v.Host != node {
			return v.Next[1]
		}
		return 0
	}
	return p
}
