package allocation

import (
	"fmt"
	"math"
	"math/rand/v2"

	"vjob/energy"
	"vjob/energy/solve"
)

// SampleOptions say what to draw. The same options give the same problem.
type SampleOptions struct {
	Objective energy.Objective
	Nodes     int
	Jobs      int
	Lambda    float64 // of Mixed
	// LightMemory takes the paper's "Pareto distribution of order 6 between 2 % and 95 %"
	// by the letter, which makes jobs much lighter than those with which the paper's
	// figures can be had again.
	LightMemory bool
	Seed        uint64
}

// The paper's figures.
const (
	meanCPU, deviationCPU   = 0.33, 0.5
	leastMemory, mostMemory = 0.02, 0.95
	paretoOrder             = 6
	truncatedMean           = 0.5450 // of the normal distribution above, without negative values
	leastIdle, mostIdle     = 100, 140
	leastFull, mostFull     = 160, 220
	leastBound, mostBound   = 0.5, 1
	leastYield              = 0.01
	scale                   = meanCPU / truncatedMean
)

// Sample draws a problem. It may have no solution, as in the paper.
func Sample(o SampleOptions) *energy.Problem {
	rng := rand.New(rand.NewPCG(o.Seed, uint64(o.Nodes)<<32|uint64(o.Jobs)))
	between := func(low, high float64) float64 { return low + (high-low)*rng.Float64() }
	p := &energy.Problem{
		ID: fmt.Sprintf("%s-h%d-j%d-s%d", o.Objective, o.Nodes, o.Jobs, o.Seed), Objective: o.Objective,
		Resources: []string{"mem"}, Nodes: make([]energy.Node, o.Nodes), Jobs: make([]energy.Job, o.Jobs),
	}
	full := 0.0
	for n := range p.Nodes {
		power := energy.Power{Idle: energy.Watts(between(leastIdle, mostIdle)), Full: energy.Watts(between(leastFull, mostFull))}
		p.Nodes[n] = energy.Node{CPU: 1, Capacity: []float64{1}, Power: power}
		full += float64(power.Full)
	}
	for j := range p.Jobs {
		cpu := -1.0
		for cpu <= 0 {
			cpu = meanCPU + deviationCPU*rng.NormFloat64()
		}
		p.Jobs[j] = energy.Job{CPU: min(1, scale*cpu), Need: []float64{memory(rng.Float64(), o.LightMemory)}}
	}
	limit := between(leastBound, mostBound)
	switch o.Objective {
	case energy.BoundedYield:
		p.Floor = limit
	case energy.BoundedPower:
		p.Budget = energy.Watts(limit * full)
	default:
		p.Floor, p.Lambda, p.EMax = leastYield, o.Lambda, energy.Watts(full)
		if watts, _, ok := solve.MaxPower(p); ok {
			p.EMax = watts
		}
	}
	return p
}

// memory is the memory need at a quantile.
func memory(u float64, light bool) float64 {
	if light {
		tail := 1 - math.Pow(leastMemory/mostMemory, paretoOrder)
		return leastMemory / math.Pow(1-u*tail, 1.0/paretoOrder)
	}
	return min(mostMemory, leastMemory+math.Pow(1-u, -1.0/paretoOrder)-1)
}
