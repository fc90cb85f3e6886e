// Package consolidate finds nodes for running VMs, at the CPU shares they have, such that the
// nodes draw less power, and states the saving and the cost: BOUNDEDYIELD (energy paper, §2.5)
// from the current placement, with the cost of each move. Large clusters are searched subset
// by subset, so the time of a search does not depend on the number of nodes.
//
// It is pure: the same problem gives the same answer.
package consolidate

import (
	"time"

	"vjob/cluster"
	"vjob/energy"
)

// Node is a node that is on.
type Node struct {
	Power      energy.Power
	CPU        float64   // capacity, in the unit of loads
	Capacity   []float64 // for VMs of the problem, including those on the node, by resource
	MayTurnOff bool      // the node goes off once it is empty
}

// VM is a VM that runs.
type VM struct {
	Node  int
	Load  float64   // CPU that it uses
	Need  []float64 // of the resources
	Fixed bool      // may not move
	// MoveEnergy is the energy of a migration.
	MoveEnergy energy.Joules
	// Remaining is its expected remaining run time.
	Remaining time.Duration
}

// Criteria determine when a move pays off.
type Criteria struct {
	// Horizon is how long a placement is expected to stay good.
	Horizon time.Duration
	// Factor is the required ratio of the saving within the horizon to the cost.
	Factor float64
	// MinSaving is the minimum saving.
	MinSaving energy.Watts
}

// Default are the default criteria.
var Default = Criteria{Horizon: time.Hour, Factor: 4, MinSaving: 10}

// Check returns an error that names the field if the criteria are invalid.
func (t *Criteria) Check() error {
	switch {
	case t.Horizon < time.Minute || t.Horizon > 7*24*time.Hour:
		return cluster.BadField("horizon", t.Horizon, "from one minute to seven days")
	case !(t.Factor >= 1 && t.Factor <= 1e6):
		return cluster.BadField("factor", t.Factor, "from 1 to 1000000")
	case !(t.MinSaving >= 0 && t.MinSaving <= 1e12):
		return cluster.BadField("least", t.MinSaving, "0 W or more")
	}
	return nil
}

// Problem is the state of a cluster.
type Problem struct {
	Resources []string
	Nodes     []Node
	VMs       []VM
	// May reports whether the rules allow a VM on a node. Nil allows all.
	May func(vm, node int) bool
	Criteria
	Seed uint64
}

// minRemaining is the remaining run time from which on a VM may be moved.
const minRemaining = 2 * time.Minute

// movable reports whether a VM may be moved.
func (p *Problem) movable(vm int) bool { return !p.VMs[vm].Fixed && p.VMs[vm].Remaining > minRemaining }

// vmsByNode returns the VMs of each node.
func (p *Problem) vmsByNode() [][]int {
	list := make([][]int, len(p.Nodes))
	for i := range p.VMs {
		list[p.VMs[i].Node] = append(list[p.VMs[i].Node], i)
	}
	return list
}

// loads returns the CPU that VMs use, scaled to the capacity of an overloaded node.
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

// slope is the average power of a unit of load.
func (n *Node) slope() float64 { return float64(n.Power.Full-n.Power.Idle) / n.CPU }
