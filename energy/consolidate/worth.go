package consolidate

import (
	"slices"
	"time"

	"vjob/energy"
)

// minMoveCost is what a move costs, in watts, beside what it takes: nobody moves for nothing.
const minMoveCost = 0.1

// moveCost is what the move of a VM costs, as power over the time for which it pays.
func (p *Problem) moveCost(vm int) float64 {
	v := &p.VMs[vm]
	return minMoveCost + p.Factor*float64(v.Move)/min(p.Horizon, v.Left).Seconds()
}

// switchCost is what it costs to switch a node off and on again, as power over the horizon.
func (p *Problem) switchCost(n int) float64 {
	power := &p.Nodes[n].Power
	return p.Factor * float64(power.On.Energy+power.Off.Energy) / p.Horizon.Seconds()
}

// measure says what an answer comes to at once.
func (p *Problem) measure(a *Answer, loads []float64) {
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
		if !on[n] && node.Spare {
			a.After += node.Power.Standby
			a.Dark = append(a.Dark, n)
			continue
		}
		a.After += node.Power.At(then[n] / node.CPU)
	}
}

// touched are the nodes that VMs leave or come to, in order.
func (p *Problem) touched(a *Answer) (list []int) {
	for _, vm := range a.Moves {
		list = append(list, p.VMs[vm].Node, a.To[vm])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Saves is what the places of an answer save within the horizon if they are reached after
// a while: VMs end when they are expected to, here as there.
func (p *Problem) Saves(a *Answer, after time.Duration) energy.Joules {
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

// draws is what a node draws from an instant to the horizon with some VMs that end one
// after the other.
func (p *Problem) draws(n int, vms []int, loads []float64, from time.Duration) (sum energy.Joules) {
	node := &p.Nodes[n]
	list := slices.SortedStableFunc(slices.Values(vms), func(a, b int) int { return int(min(max(p.VMs[a].Left-p.VMs[b].Left, -1), 1)) })
	load := 0.0
	for _, vm := range list {
		load += loads[vm]
	}
	for _, vm := range list {
		until := min(p.VMs[vm].Left, p.Horizon)
		if until > from {
			sum += node.Power.At(load / node.CPU).Over(until - from)
			from = until
		}
		load -= loads[vm]
	}
	if from < p.Horizon {
		watts := node.Power.Idle
		if node.Spare {
			watts = node.Power.Standby
		}
		sum += watts.Over(p.Horizon - from)
	}
	return sum
}

// Switching is what it takes to switch the nodes off and on again that an answer leaves
// empty.
func (p *Problem) Switching(a *Answer) (sum energy.Joules) {
	for _, n := range a.Dark {
		sum += p.Nodes[n].Power.On.Energy + p.Nodes[n].Power.Off.Energy
	}
	return sum
}
