package energy

import (
	"cmp"
	"math"
	"slices"
)

// Fair returns the max-min fair allocation of an assignment: the least yield is that of
// [Problem.Equal]; then the others are raised, the smallest first, while their node has CPU
// and the budget of [BoundedPower] lasts. For the other objectives it equals Equal, since more
// yield takes more power than needed.
func (p *Problem) Fair(at []int) (*Allocation, bool) {
	a, ok := p.Equal(at)
	if !ok || p.Objective != BoundedPower {
		return a, ok
	}
	l := p.loads(at)
	level := p.level(l)
	for j, n := range at {
		need := p.Jobs[j].CPU
		a.CPU[j] = max(a.CPU[j], need*min(level, 1, p.Nodes[n].CPU/l.need[n]))
	}
	return a, true
}

// level is the yield up to which all are raised, each at most to what its node allows.
func (p *Problem) level(l loads) float64 {
	draws := func(level float64) (sum Watts) {
		for n := range p.Nodes {
			if node := &p.Nodes[n]; l.jobs[n] == 0 {
				sum += node.Power.Standby
			} else {
				sum += node.Power.At(min(1, level*l.need[n]/node.CPU))
			}
		}
		return sum
	}
	if draws(1) <= p.Budget {
		return 1
	}
	low, high := 0.0, 1.0
	for range 60 {
		if y := (low + high) / 2; draws(y) <= p.Budget {
			low = y
		} else {
			high = y
		}
	}
	return low
}

// MaxSum returns the allocation with the largest sum of yields once the least yield is that
// of [Problem.Equal] (the second step of the paper's reference [9]): the rest of CPU and
// budget goes first to the jobs that gain most yield per watt. With measured power curves that
// order uses their average slope, so the sum is nearly the largest.
func (p *Problem) MaxSum(at []int) (*Allocation, bool) {
	a, ok := p.Equal(at)
	if !ok || p.Objective != BoundedPower {
		return a, ok
	}
	spare, used := make([]float64, len(p.Nodes)), make([]float64, len(p.Nodes))
	for j, n := range at {
		used[n] += a.CPU[j]
	}
	left, on := p.Budget, p.loads(at)
	for n := range p.Nodes {
		node := &p.Nodes[n]
		spare[n] = node.CPU - used[n]
		if on.jobs[n] == 0 {
			left -= node.Power.Standby
		} else {
			left -= node.Power.At(used[n] / node.CPU)
		}
	}
	price := func(j int) float64 { // watts for one unit of yield
		node := &p.Nodes[at[j]]
		return p.Jobs[j].CPU * float64(node.Power.Full-node.Power.Idle) / node.CPU
	}
	order := make([]int, len(at))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(price(i), price(j)), cmp.Compare(p.Jobs[i].CPU, p.Jobs[j].CPU))
	})
	for _, j := range order {
		n := at[j]
		node := &p.Nodes[n]
		before := node.Power.At(used[n] / node.CPU)
		more := node.affordableCPU(used[n], max(0, min(spare[n], p.Jobs[j].CPU-a.CPU[j])), before+max(0, left))
		a.CPU[j] += more
		used[n] += more
		spare[n] -= more
		left -= node.Power.At(used[n]/node.CPU) - before
	}
	return a, true
}

// affordableCPU returns how much of the wanted CPU, on top of what is used, the node can give
// within a power limit.
func (n *Node) affordableCPU(used, wanted float64, most Watts) float64 {
	if n.Power.At((used+wanted)/n.CPU) <= most {
		return wanted
	}
	low, high := 0.0, wanted
	for range 60 {
		if x := (low + high) / 2; n.Power.At((used+x)/n.CPU) <= most {
			low = x
		} else {
			high = x
		}
	}
	return math.Max(0, low)
}
