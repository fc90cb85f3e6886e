package energy

import "math"

// Allocation is where each job runs and how much CPU it gets there.
type Allocation struct {
	At  []int     // the node of each job
	CPU []float64 // its share, in the unit of its need
}

// Measures are the figures of an allocation.
type Measures struct {
	Yield float64 // the least of all jobs: Y
	Power Watts   // of all nodes: E
	Z     float64 // of Mixed; 0 otherwise
	Nodes int     // that are on
}

// Value returns the figure that the objective counts: E, to be minimised, or Y or Z, to be
// maximised.
func (o Objective) Value(m Measures) float64 {
	switch o {
	case BoundedYield:
		return float64(m.Power)
	case BoundedPower:
		return m.Yield
	default:
		return m.Z
	}
}

// Better reports whether one value is better than another.
func (o Objective) Better(one, other float64) bool {
	if o == BoundedYield {
		return one < other
	}
	return one > other
}

// Gap is how much worse a value is than a bound, as a fraction of the bound: 0.01 is 1 % more
// power, or 1 % less yield or Z.
func (o Objective) Gap(value, bound float64) float64 {
	switch {
	case value == bound:
		return 0
	case o == BoundedYield:
		return value/bound - 1
	default:
		return 1 - value/bound
	}
}

// z is the objective of Mixed.
func (p *Problem) z(yield float64, power Watts) float64 {
	return p.Lambda*yield + (1-p.Lambda)*(1-min(1, float64(power/p.EMax)))
}

// loads are the loads of all nodes under an assignment.
type loads struct {
	need []float64 // CPU that its jobs can use
	jobs []int
}

func (p *Problem) loads(at []int) loads {
	l := loads{make([]float64, len(p.Nodes)), make([]int, len(p.Nodes))}
	for j, n := range at {
		l.need[n] += p.Jobs[j].CPU
		l.jobs[n]++
	}
	return l
}

// power is that of all nodes when each job gets the yield, or what its node can give.
func (p *Problem) power(l loads, yield float64) (sum Watts) {
	for n := range p.Nodes {
		node := &p.Nodes[n]
		if l.jobs[n] == 0 {
			sum += node.Power.Standby
			continue
		}
		sum += node.Power.At(yield * l.need[n] / node.CPU)
	}
	return sum
}

// maxYield is the largest yield that all jobs can have at once.
func (p *Problem) maxYield(l loads) float64 {
	y := 1.0
	for n := range p.Nodes {
		if l.jobs[n] > 0 {
			y = min(y, p.Nodes[n].CPU/l.need[n])
		}
	}
	return y
}

// affordableYield is the largest yield up to most that the budget covers; 0 if there is no
// such yield.
func (p *Problem) affordableYield(l loads, most float64) float64 {
	least, top := p.power(l, 0), p.power(l, most)
	switch {
	case top <= p.Budget:
		return most
	case least >= p.Budget:
		return 0
	case p.linear():
		return most * float64((p.Budget-least)/(top-least))
	}
	low, high := 0.0, most
	for range 60 {
		if y := (low + high) / 2; p.power(l, y) <= p.Budget {
			low = y
		} else {
			high = y
		}
	}
	return low
}

func (p *Problem) linear() bool {
	for n := range p.Nodes {
		if len(p.Nodes[n].Power.Measured) > 0 {
			return false
		}
	}
	return true
}

// Equal gives all jobs the same yield, the best one for an assignment: the floor for
// [BoundedYield], the largest for [BoundedPower]. For [Mixed], Z is convex in the yield
// between the corners of the power curves, so the best yield is at a corner or an end. It
// returns false if the assignment is infeasible: a node cannot give the floor, or the budget
// does not cover it. Rigid resources are not checked.
func (p *Problem) Equal(at []int) (*Allocation, bool) {
	l := p.loads(at)
	y, most := p.Floor, p.maxYield(l)
	switch p.Objective {
	case BoundedYield:
	case BoundedPower:
		y = p.affordableYield(l, most)
	default:
		y = p.bestYieldForZ(l, most)
	}
	if most < p.Floor-Tolerance || y < p.Floor-Tolerance || y <= 0 {
		return nil, false
	}
	y = min(y, most)
	a := &Allocation{At: at, CPU: make([]float64, len(at))}
	for j := range at {
		a.CPU[j] = y * p.Jobs[j].CPU
	}
	return a, true
}

// minYield stands for "more than 0" if no floor is given.
const minYield = 1e-9

// bestYieldForZ is the yield with the largest Z.
func (p *Problem) bestYieldForZ(l loads, most float64) (best float64) {
	floor := max(p.Floor, minYield)
	z := math.Inf(-1)
	try := func(y float64) {
		if v := p.z(y, p.power(l, y)); y >= floor && y <= most && v > z {
			best, z = y, v
		}
	}
	try(most)
	try(floor)
	for n := range p.Nodes {
		for _, m := range p.Nodes[n].Power.Measured {
			if l.jobs[n] > 0 {
				try(m.Load * p.Nodes[n].CPU / l.need[n])
			}
		}
	}
	return best
}
