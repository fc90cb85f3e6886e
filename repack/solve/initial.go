package solve

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
)

// Placement is what [Options.Initial] decides on: the VMs that run at the end, numbered from 0
// to Len-1, and the nodes that may host them. At first no VM has a place.
type Placement struct{ s *placement.State }

// Len is the number of VMs.
func (p Placement) Len() int { return len(p.s.Wanted) }

// Need returns what a VM needs at the end, by dimension.
func (p Placement) Need(vm int) []int64 {
	return p.s.Next[p.s.Wanted[vm]*p.s.Dims : (p.s.Wanted[vm]+1)*p.s.Dims]
}

// Room returns the capacity of a node, by dimension.
func (p Placement) Room(node int) []int64 { return p.s.Room[node*p.s.Dims : (node+1)*p.s.Dims] }

// Nodes is the number of nodes.
func (p Placement) Nodes() int { return len(p.s.In.Nodes) }

// Allows reports whether no hard rule on the VM alone keeps it off the node.
func (p Placement) Allows(vm, node int) bool { return p.s.Allows(p.s.Wanted[vm], node) }

// Cost returns the least that it costs to have a VM on a node, in the objective.
func (p Placement) Cost(vm, node int) int64 { return p.s.PlaceCost(p.s.Wanted[vm], node) }

// Apart returns the sets of VMs of which no two may share a node.
func (p Placement) Apart() (sets [][]int) {
	number := map[int]int{}
	for i, vm := range p.s.Wanted {
		number[vm] = i
	}
	for _, r := range p.s.In.Rules {
		a, ok := r.Rule.(problem.Apart)
		if !ok || r.Penalty > 0 {
			continue
		}
		var set []int
		for _, vm := range a.Apart() {
			if i, ok := number[vm]; ok {
				set = append(set, i)
			}
		}
		sets = append(sets, set)
	}
	return sets
}

// Guarded reports whether there are hard rules besides those of Allows.
func (p Placement) Guarded() bool {
	return slices.ContainsFunc(p.s.Guards, func(g problem.PostedGuard) bool { return g.Penalty == 0 })
}

// Admits reports whether a VM without a place may come to a node beside those that
// have one, as far as rules are concerned.
func (p Placement) Admits(vm, node int) bool {
	breaches, _ := p.s.Delta(p.s.Wanted[vm], repack.Nowhere, node)
	return breaches <= 0
}

// Come gives a VM a place.
func (p Placement) Come(vm, node int) { p.s.Move(p.s.Wanted[vm], node) }

// Go takes the place of a VM away.
func (p Placement) Go(vm, _ int) { p.s.Move(p.s.Wanted[vm], repack.Nowhere) }

// startAt searches from the initial placement, on the nodes that it uses only.
func startAt(in *repack.Instance, o Options) *Result {
	at := o.Initial(Placement{placement.New(problem.New(in, o.Objective))}) // it moves VMs
	if at == nil {
		return &Result{Verdict: Exhausted}
	}
	p := newPortfolio(in, o, nil)
	first := p.searches[0]
	used := make([]bool, len(in.Nodes))
	for _, n := range at {
		used[n] = true
	}
	for _, s := range p.searches {
		s.RestrictTo(used)
		s.bounds.FindPreferences()
	}
	p.raise(first.bounds.Value())
	for i, vm := range first.Wanted {
		first.Move(vm, at[i])
	}
	first.RefreshDelays(first.OpenNodes...)
	first.schedulePlacement()
	p.takeBest(p.searches[:1])
	p.improve()
	if p.best == nil {
		return &Result{Verdict: Exhausted}
	}
	return p.result()
}
