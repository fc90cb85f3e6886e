// Package cpushare decides who runs, and with how much CPU, so that nodes draw no more than
// they may: those first in the queue run, each with at least its floor; what power is left
// is dealt out evenly (BOUNDEDPOWER, paper §2.4, on the places that VMs have).
//
// It is pure. It refuses to know which vjobs there are, and how one is suspended.
package cpushare

import (
	"math"

	"vjob/energy"
)

// Node is a node that draws power, or a place that stands for some.
type Node struct {
	Power energy.Power
	CPU   float64 // capacity, in the unit of the VMs
	Off   bool    // it draws its standby power, whoever is there
	// Least is what it draws at least, whatever its load: it is being switched, or is about
	// to be.
	Least energy.Watts
}

// VM is one member of a job, on the node with that index.
type VM struct {
	Node int
	CPU  float64 // what it gets at a yield of 1
}

// Job is VMs that run together, each with the same yield.
type Job struct {
	VMs   []VM
	Floor float64 // the least yield, from 0 to 1
	Fixed bool    // it runs whatever comes
}

// Limit is what some nodes may draw together.
type Limit struct {
	Watts energy.Watts
	Nodes []int
}

// Problem is what there is to decide. Jobs are in the order in which they are to run.
type Problem struct {
	Nodes  []Node
	Jobs   []Job
	Limits []Limit
	Most   float64 // the largest yield that anybody gets beyond its floor, from 0 to 1
	// Lambda trades power for yield (MIXEDOBJECTIVE, paper §2.6): where it is less than 1,
	// nobody gets more than the yield with the largest λ·Y + (1−λ)·(1−E/E(1)).
	Lambda float64
}

// Draws is what a node draws under a load, in the unit of its CPU.
func (n *Node) Draws(load float64) energy.Watts {
	if n.Off {
		return max(n.Least, n.Power.Standby)
	}
	return max(n.Least, n.Power.At(load/max(n.CPU, math.SmallestNonzeroFloat64)))
}

// Choose says who runs: the fixed ones, and in order everybody who can have its floor
// beside those chosen before. The others have a refusal.
func (p *Problem) Choose() (runs []bool, refusals map[int]Refusal) {
	runs, refusals = make([]bool, len(p.Jobs)), map[int]Refusal{}
	l := p.Ledger()
	for j := range p.Jobs {
		if p.Jobs[j].Fixed {
			runs[j] = true
			l.Count(&p.Jobs[j])
		}
	}
	for j := range p.Jobs {
		if runs[j] {
			continue
		}
		r, ok := l.Take(&p.Jobs[j])
		if runs[j] = ok; !ok {
			refusals[j] = r
		}
	}
	return runs, refusals
}

// Excess is by how much each limit is broken when those run with their floors, or when
// nobody does; 0 where it is kept.
func (p *Problem) Excess(runs []bool) []energy.Watts {
	l := p.Ledger()
	for j, run := range runs {
		if run {
			l.Count(&p.Jobs[j])
		}
	}
	over := make([]energy.Watts, len(p.Limits))
	for i := range over {
		if by := l.sums[i] - p.Limits[i].Watts; by > slack {
			over[i] = by
		}
	}
	return over
}
