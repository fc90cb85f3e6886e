package consolidation

import (
	"vjob/repack"
	"vjob/repack/solve"
)

// Plan searches for a plan that leaves as few nodes in use as possible, and among those for a cheap
// one: the packing selects the nodes, then [solve.Solve] plans on them. If no plan leads to the
// packing, it plans on all nodes. Bound and Proved of the result always count nodes.
//
// The error is an invalid instance.
func Plan(in *repack.Instance, o solve.Options) (*solve.Result, error) {
	if found := o.Found; found != nil {
		o.Found = func(f repack.Figures, _ int64) { found(f, 0) } // its bound is of the cost
	}
	var fewest Answer
	packed := o
	packed.Initial = func(p solve.Placement) []int {
		problem, options := problemOf(p), SearchOptions{Seed: o.Seed, Stop: o.Stop}
		fewest = Fewest(problem, options)
		if fewest.At == nil {
			return nil
		}
		if r := Cheapest(problem, fewest.Used, options, fewest.At); r.At != nil {
			return r.At
		}
		return fewest.At
	}
	r, err := solve.Solve(in, packed)
	if err != nil || r.Verdict == solve.Impossible {
		return r, err
	}
	if r.Verdict != solve.Solved {
		if r, err = solve.Solve(in, o); err != nil {
			return nil, err
		}
	}
	r.Bound = int64(fewest.Bound)
	r.Proved = r.Verdict == solve.Solved && int64(r.Figures.NodesUsed) <= r.Bound
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
