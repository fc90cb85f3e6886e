package consolidation

import (
	"vjob/repack"
	"vjob/repack/solve"
)

// Plan searches for a plan that leaves as few nodes in use as possible, and among those
// for a cheap one: the packing decides which nodes are used, then [solve.Solve] plans on
// those. The bound of the result, and whether it is proved, are of the number of nodes.
// If the packing leads to no plan, the result is that of [solve.Solve] without it.
//
// The error is an instance that is not valid.
func Plan(in *repack.Instance, o solve.Options) (*solve.Result, error) {
	if found := o.Found; found != nil {
		o.Found = func(f repack.Figures, _ int64) { found(f, 0) } // its bound is of the cost
	}
	var fewest Answer
	packed := o
	packed.Initial = func(p solve.Placement) []int {
		problem, budget := problemOf(p), Budget{Seed: o.Seed, Stop: o.Stop}
		fewest = Fewest(problem, budget)
		if fewest.At == nil {
			return nil
		}
		if r := Cheapest(problem, fewest.Used, budget, fewest.At); r.At != nil {
			return r.At
		}
		return fewest.At
	}
	r, err := solve.Solve(in, packed)
	if err != nil || r.Verdict == solve.Impossible {
		return r, err
	}
	if r.Verdict != solve.Solved {
		return solve.Solve(in, o)
	}
	r.Bound = int64(fewest.Bound)
	r.Proved = int64(r.Figures.NodesUsed) <= r.Bound
	return r, nil
}

// problemOf returns a placement as a packing problem.
func problemOf(p solve.Placement) *Problem {
	problem := &Problem{May: p.Allows, Cost: p.Cost, Apart: p.Apart()}
	for n := range p.Nodes() {
		problem.Room = append(problem.Room, p.Room(n))
	}
	for vm := range p.Len() {
		problem.Need = append(problem.Need, p.Need(vm))
	}
	if p.Guarded() {
		problem.Veto = p
	}
	return problem
}
