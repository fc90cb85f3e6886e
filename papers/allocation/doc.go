// Package allocation implements the algorithms of Damien Borgetto, Henri Casanova, Georges Da Costa
// and Jean-Marc Pierson, "Energy-Aware Service Allocation" (2010), as they were published.
//
// [Sample] draws the paper's instances, and [Figures] compares our results with the paper's. Where
// the text allows two readings, both are implemented under names of their own. The algorithms are
// greedy; package energy/solve has a better search.
package allocation

import "vjob/energy"

// Algorithm allocates all jobs, or returns nil.
type Algorithm func(p *energy.Problem) *energy.Allocation

// Named is an algorithm with its name and its objective.
type Named struct {
	Name string
	For  energy.Objective
	Algorithm
}

// All returns the algorithms in the order of the paper. For each objective the first ones are the
// usual reading. "-kept" keeps placements while yields decrease ("until all jobs can be placed"),
// "-nested" searches for the yield as well as for k, and "-lambda" uses lambda as in section 3,
// against the definition of Z.
func All() []Named {
	return []Named{
		{"greedy-yield-1", energy.BoundedYield, greedyYield(byMemory, firstFit)},
		{"greedy-yield-2", energy.BoundedYield, greedyYield(byCPU, firstFit)},
		{"greedy-yield-3", energy.BoundedYield, greedyYield(byMemory, bestFit)},
		{"greedy-yield-4", energy.BoundedYield, greedyYield(byCPU, bestFit)},
		{"ea-resalloc-yield", energy.BoundedYield, reallocYield},
		{"greedy-power-1", energy.BoundedPower, greedyAfresh(byMemory, firstFit)},
		{"greedy-power-2", energy.BoundedPower, greedyAfresh(byCPU, firstFit)},
		{"greedy-power-3", energy.BoundedPower, greedyAfresh(byMemory, bestFit)},
		{"greedy-power-4", energy.BoundedPower, greedyAfresh(byCPU, bestFit)},
		{"greedy-power-1-kept", energy.BoundedPower, greedyKept(byMemory, firstFit)},
		{"greedy-power-2-kept", energy.BoundedPower, greedyKept(byCPU, firstFit)},
		{"greedy-power-3-kept", energy.BoundedPower, greedyKept(byMemory, bestFit)},
		{"greedy-power-4-kept", energy.BoundedPower, greedyKept(byCPU, bestFit)},
		{"ea-resalloc-power", energy.BoundedPower, reallocPower},
		{"ea-resalloc-power-nested", energy.BoundedPower, reallocNested},
		{"greedy-mixed-1", energy.Mixed, greedyMixed(weightOfYield, greedyAfresh(byMemory, firstFit))},
		{"greedy-mixed-2", energy.Mixed, greedyMixed(weightOfYield, greedyAfresh(byCPU, firstFit))},
		{"greedy-mixed-1-kept", energy.Mixed, greedyMixed(weightOfYield, greedyKept(byMemory, firstFit))},
		{"greedy-mixed-2-kept", energy.Mixed, greedyMixed(weightOfYield, greedyKept(byCPU, firstFit))},
		{"greedy-mixed-1-lambda", energy.Mixed, greedyMixed(weightOfPower, greedyKept(byMemory, firstFit))},
		{"greedy-mixed-2-lambda", energy.Mixed, greedyMixed(weightOfPower, greedyKept(byCPU, firstFit))},
		{"ea-resalloc-mixed", energy.Mixed, func(p *energy.Problem) *energy.Allocation { return reallocMixed(p, 1-p.Lambda) }},
		{"ea-resalloc-mixed-lambda", energy.Mixed, func(p *energy.Problem) *energy.Allocation { return reallocMixed(p, p.Lambda) }},
	}
}
