// Package consolidate finds places for VMs that run, at the shares that they have, where
// their nodes would draw less, and says what that saves and costs: BOUNDEDYIELD (energy
// paper, §2.5) from where everybody is, the moves paid for. Large clusters are looked at
// piece by piece, so that a look takes as long however many nodes there are.
//
// It is pure: the same problem gives the same answer. It refuses to know vjobs and rules,
// how VMs are moved, and who switches nodes off.
package consolidate

import (
	"time"

	"vjob/cluster"
	"vjob/energy"
)

// Node is a node that is on.
type Node struct {
	Power energy.Power
	CPU   float64   // capacity, in the unit of loads
	Room  []float64 // for VMs of the problem, those that are there included, by resource
	Spare bool      // it goes off once nothing runs there
}

// VM is a VM that runs.
type VM struct {
	Node  int
	Load  float64   // CPU that it uses
	Need  []float64 // of the resources
	Fixed bool      // it stays where it is
	// Move is what it takes to bring it to another node.
	Move energy.Joules
	// Left is how long it is expected to run on.
	Left time.Duration
}

// Terms say when it pays to move.
type Terms struct {
	// Horizon is for how long places are expected to be good.
	Horizon time.Duration
	// Factor is how many times more has to be saved within the horizon than is spent.
	Factor float64
	// Least is what has to be saved in any case.
	Least energy.Watts
}

// Default are the terms unless others are given.
var Default = Terms{Horizon: time.Hour, Factor: 4, Least: 10}

// Check says what is wrong with terms. The error names the field.
func (t *Terms) Check() error {
	switch {
	case t.Horizon < time.Minute || t.Horizon > 7*24*time.Hour:
		return cluster.BadField("horizon", t.Horizon, "from one minute to seven days")
	case !(t.Factor >= 1 && t.Factor <= 1e6):
		return cluster.BadField("factor", t.Factor, "from 1 to 1000000")
	case !(t.Least >= 0 && t.Least <= 1e12):
		return cluster.BadField("least", t.Least, "0 W or more")
	}
	return nil
}

// Problem is a cluster as it runs.
type Problem struct {
	Resources []string
	Nodes     []Node
	VMs       []VM
	// May reports whether a VM may be on a node; nil is always.
	May func(vm, node int) bool
	Terms
	Seed uint64
}

// minRemaining is how long a VM has to run on to be worth a thought.
const minRemaining = 2 * time.Minute

// movable reports whether a VM may go elsewhere.
func (p *Problem) movable(vm int) bool { return !p.VMs[vm].Fixed && p.VMs[vm].Left > minRemaining }

// vmsByNode are the VMs of each node.
func (p *Problem) vmsByNode() [][]int {
	list := make([][]int, len(p.Nodes))
	for i := range p.VMs {
		list[p.VMs[i].Node] = append(list[p.VMs[i].Node], i)
	}
	return list
}

// loads are what VMs use, on each node no more than there is.
func (p *Problem) loads(guests [][]int) []float64 {
	loads := make([]float64, len(p.VMs))
	for n, vms := range guests {
		sum := 0.0
		for _, vm := range vms {
			sum += p.VMs[vm].Load
		}
		part := 1.0
		if sum > p.Nodes[n].CPU {
			part = p.Nodes[n].CPU / sum
		}
		for _, vm := range vms {
			loads[vm] = part * p.VMs[vm].Load
		}
	}
	return loads
}

// slope is what a unit of load adds to what a node draws, in the mean.
func (n *Node) slope() float64 { return float64(n.Power.Full-n.Power.Idle) / n.CPU }
