// Package cpushare selects the jobs that run, and their CPU shares, such that nodes keep their
// power limits: jobs run in queue order, each with at least its floor; the remaining power is
// distributed evenly (BOUNDEDPOWER, paper §2.4, on the current placement).
//
// It is pure.
package cpushare

import (
	"math"

	"vjob/energy"
)

// Node is a node that draws power, or a bound on the draw of several.
type Node struct {
	Power energy.Power
	CPU   float64 // capacity, in the unit of the VMs
	Off   bool    // it draws its standby power, whatever its load
	// MinDraw is a lower bound on its draw, whatever its load, while it is switched or about to be.
	MinDraw energy.Watts
}

// VM is one member of a job, on the node with that index.
type VM struct {
	Node int
	CPU  float64 // at a yield of 1
}

// Job is a set of VMs that run together with the same yield.
type Job struct {
	VMs   []VM
	Floor float64 // the least yield, from 0 to 1
	Fixed bool    // it runs even if limits are exceeded
}

// Limit caps the total draw of some nodes.
type Limit struct {
	Watts energy.Watts
	Nodes []int
}

// Problem is the input. Jobs are in queue order.
type Problem struct {
	Nodes    []Node
	Jobs     []Job
	Limits   []Limit
	MaxYield float64 // the largest yield of a job beyond its floor, from 0 to 1
	// Lambda trades power for yield (MIXEDOBJECTIVE, paper §2.6): below 1, no job gets more
	// than the yield with the largest λ·Y + (1−λ)·(1−E/E(1)).
	Lambda float64
}

// Draws is the power under a load, in the unit of its CPU.
func (n *Node) Draws(load float64) energy.Watts {
	if n.Off {
		return max(n.MinDraw, n.Power.Standby)
	}
	return max(n.MinDraw, n.Power.At(load/max(n.CPU, math.SmallestNonzeroFloat64)))
}

// Select selects the jobs that run: the fixed ones, then in order each job if its floor fits
// beside those chosen before. The others get a refusal.
func (p *Problem) Select() (runs []bool, refusals map[int]Breach) {
	runs, refusals = make([]bool, len(p.Jobs)), map[int]Breach{}
	l := p.NewDraw()
	for j := range p.Jobs {
		if p.Jobs[j].Fixed {
			runs[j] = true
			l.Add(&p.Jobs[j])
		}
	}
	for j := range p.Jobs {
		if runs[j] {
			continue
		}
		r, ok := l.TryAdd(&p.Jobs[j])
		runs[j] = ok
		if !ok {
			refusals[j] = r
		}
	}
	return runs, refusals
}

// Excess returns by how much each limit is exceeded if the given jobs run with their floors; 0
// if it is kept.
func (p *Problem) Excess(runs []bool) []energy.Watts {
	l := p.NewDraw()
	for j, run := range runs {
		if run {
			l.Add(&p.Jobs[j])
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
