package consolidation_test

import (
	"math/rand/v2"

	"vjob/papers/consolidation"
	"vjob/repack"
	"vjob/tests/planted"
)

// thesis draws a configuration of thesis §10.1: nodes with two processors.
func thesis(nodes, vms int, memory []int64, seed uint64) *consolidation.Problem {
	return consolidation.Sample(consolidation.SampleOptions{Nodes: nodes, VMs: vms, CPU: 2, Memory: memory, Seed: seed})
}

// The classes of equal VMs of thesis §10.1.2.
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
