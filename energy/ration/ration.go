// Package ration decides who runs, and with how much CPU, so that nodes draw no more than
// they may: those first in the queue run, each with at least its floor; what power is left
// is dealt out evenly (BOUNDEDPOWER, paper §2.4, on the places that VMs have).
//
// It is pure. It refuses to know which vjobs there are, and how one is suspended.
package ration

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

// slack is what sums of watts may differ by.
const slack = 1e-6

// ledger is what every node is loaded with, and what each limit counts.
type ledger struct {
	*Problem
	load  []float64
	watts []energy.Watts // by node
	sums  []energy.Watts // by limit
	in    [][]int        // limits that count a node
}

func (p *Problem) ledger() *ledger {
	l := &ledger{
		Problem: p, load: make([]float64, len(p.Nodes)), watts: make([]energy.Watts, len(p.Nodes)),
		sums: make([]energy.Watts, len(p.Limits)), in: make([][]int, len(p.Nodes)),
	}
	for i, limit := range p.Limits {
		for _, n := range limit.Nodes {
			l.in[n] = append(l.in[n], i)
		}
	}
	for n := range p.Nodes {
		l.put(n, 0)
	}
	return l
}

// Draws is what a node draws under a load, in the unit of its CPU.
func (n *Node) Draws(load float64) energy.Watts {
	if n.Off {
		return max(n.Least, n.Power.Standby)
	}
	return max(n.Least, n.Power.At(load/max(n.CPU, math.SmallestNonzeroFloat64)))
}

// put adds load to a node.
func (l *ledger) put(n int, load float64) {
	l.load[n] += load
	now := l.Nodes[n].Draws(l.load[n])
	for _, i := range l.in[n] {
		l.sums[i] += now - l.watts[n]
	}
	l.watts[n] = now
}

// add gives a job so much yield more.
func (l *ledger) add(j int, yield float64) {
	for _, vm := range l.Jobs[j].VMs {
		l.put(vm.Node, yield*vm.CPU)
	}
}

// breach is the limit that a job makes its nodes break, and by how much; false: none.
func (l *ledger) breach(j int) (r Refusal, broken bool) {
	for _, vm := range l.Jobs[j].VMs {
		for _, i := range l.in[vm.Node] {
			if over := l.sums[i] - l.Limits[i].Watts; vm.CPU > 0 && over > slack && over > r.Short {
				r, broken = Refusal{i, over}, true
			}
		}
	}
	return r, broken
}

// Refusal is why a job does not run: with its floor a limit would be broken by so much.
type Refusal struct {
	Limit int
	Short energy.Watts
}

// Choose says who runs: the fixed ones, and in order everybody who can have its floor
// beside those chosen before. The others have a refusal.
func (p *Problem) Choose() (runs []bool, refusals map[int]Refusal) {
	runs, refusals = make([]bool, len(p.Jobs)), map[int]Refusal{}
	l := p.ledger()
	for j := range p.Jobs {
		if p.Jobs[j].Fixed {
			runs[j] = true
			l.add(j, p.Jobs[j].Floor)
		}
	}
	for j := range p.Jobs {
		if runs[j] {
			continue
		}
		l.add(j, p.Jobs[j].Floor)
		r, broken := l.breach(j)
		if broken {
			l.add(j, -p.Jobs[j].Floor)
			refusals[j] = r
		}
		runs[j] = !broken
	}
	return runs, refusals
}

// Excess is by how much each limit is broken when those run with their floors, or when
// nobody does; 0 where it is kept.
func (p *Problem) Excess(runs []bool) []energy.Watts {
	l := p.ledger()
	for j, run := range runs {
		if run {
			l.add(j, p.Jobs[j].Floor)
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
