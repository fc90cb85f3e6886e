package consolidate

import (
	"slices"
	"time"

	"vjob/energy"
)

// minMoveCost is the cost of a move, in watts, beyond its energy: a move without a saving
// never pays off.
const minMoveCost = 0.1

// moveCost is the cost of the move of a VM, as power over the time in which it pays off.
func (p *Problem) moveCost(vm int) float64 {
	v := &p.VMs[vm]
	return minMoveCost + p.Factor*float64(v.MoveEnergy)/min(p.Horizon, v.Remaining).Seconds()
}

// switchCost is the cost of switching a node off and on again, as power over the horizon.
func (p *Problem) switchCost(n int) float64 {
	power := &p.Nodes[n].Power
	return p.Factor * float64(power.On.Energy+power.Off.Energy) / p.Horizon.Seconds()
}

// measure fills in the power before and after, and the nodes that go off.
func (p *Problem) measure(a *Result, loads []float64) {
	touched, now, then := p.touched(a), make([]float64, len(p.Nodes)), make([]float64, len(p.Nodes))
	on := make([]bool, len(p.Nodes))
	for i := range p.VMs {
		now[p.VMs[i].Node] += loads[i]
		then[a.To[i]] += loads[i]
		on[a.To[i]] = true
	}
	for _, n := range touched {
		node := &p.Nodes[n]
		a.Before += node.Power.At(now[n] / node.CPU)
		if !on[n] && node.MayTurnOff {
			a.After += node.Power.Standby
			a.Emptied = append(a.Emptied, n)
			continue
		}
		a.After += node.Power.At(then[n] / node.CPU)
	}
}

// touched returns the nodes that VMs leave or join, sorted.
func (p *Problem) touched(a *Result) (list []int) {
	for _, vm := range a.Moves {
		list = append(list, p.VMs[vm].Node, a.To[vm])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Saves returns the energy that an answer saves within the horizon if its placement is reached
// after the given time. VMs end as expected.
func (p *Problem) Saves(a *Result, after time.Duration) energy.Joules {
	touched := p.touched(a)
	here, there := make([][]int, len(p.Nodes)), make([][]int, len(p.Nodes))
	for i := range p.VMs {
		here[p.VMs[i].Node], there[a.To[i]] = append(here[p.VMs[i].Node], i), append(there[a.To[i]], i)
	}
	loads, sum := p.loads(p.vmsByNode()), energy.Joules(0)
	for _, n := range touched {
		sum += p.draws(n, here[n], loads, after) - p.draws(n, there[n], loads, after)
	}
	return sum
}

// draws is the energy that a node draws from an instant to the horizon, while its VMs end one
// after another.
func (p *Problem) draws(n int, vms []int, loads []float64, from time.Duration) (sum energy.Joules) {
	node := &p.Nodes[n]
	list := slices.SortedStableFunc(slices.Values(vms), func(a, b int) int { return int(min(max(p.VMs[a].Remaining-p.VMs[b].Remaining, -1), 1)) })
	load := 0.0
	for _, vm := range list {
		load += loads[vm]
	}
	for _, vm := range list {
		until := min(p.VMs[vm].Remaining, p.Horizon)
		if until > from {
			sum += node.Power.At(load / node.CPU).Over(until - from)
			from = until
		}
		load -= loads[vm]
	}
	if from < p.Horizon {
		watts := node.Power.Idle
		if node.MayTurnOff {
			watts = node.Power.Standby
		}
		sum += watts.Over(p.Horizon - from)
	}
	return sum
}

// Switching is the energy to switch the nodes that an answer empties off and on again.
func (p *Problem) Switching(a *Result) (sum energy.Joules) {
	for _, n := range a.Emptied {
		sum += p.Nodes[n].Power.On.Energy + p.Nodes[n].Power.Off.Energy
	}
	return sum
}
