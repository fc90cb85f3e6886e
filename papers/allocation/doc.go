// Package allocation has the algorithms of the paper (§3) as they were published, so that
// others can be compared with them. Where the text can be read in two ways, both are
// there under names of their own.
//
// Each is quick and none goes back on what it did: see package solve for allocations that
// are meant to be used.
package allocation

import "vjob/energy"

// Algorithm places all jobs, or fails: nil.
type Algorithm func(p *energy.Problem) *energy.Allocation

// Named is an algorithm and the problems that it is for.
type Named struct {
	Name string
	For  energy.Objective
	Algorithm
}

// All are the algorithms, in the order of the paper. The first ones of each objective are
// those that the paper's figures are of; "-kept" and "-afresh" are two readings of "until all
// jobs can be placed", "-nested" searches for the yield as well as for k, "-lambda" takes
// the paper's use of lambda by the letter, against its definition of Z.
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
