package solve

import (
	"slices"

	"vjob/repack"
)

// Placement is what [Options.Initial] decides on: the VMs that run at the end, numbered
// from 0 to Len, and the nodes that may host them. At first no VM has a place.
type Placement struct{ s *State }

// Len is the number of VMs.
func (p Placement) Len() int { return len(p.s.wanted) }

// Need returns what a VM needs at the end, by dimension.
func (p Placement) Need(vm int) []int64 {
	return p.s.next[p.s.wanted[vm]*p.s.dims : (p.s.wanted[vm]+1)*p.s.dims]
}

// Room returns the capacity of a node, by dimension.
func (p Placement) Room(node int) []int64 { return p.s.room[node*p.s.dims : (node+1)*p.s.dims] }

// Nodes is the number of nodes.
func (p Placement) Nodes() int { return len(p.s.in.Nodes) }

// Allows reports whether no hard rule on the VM alone keeps it off the node.
func (p Placement) Allows(vm, node int) bool { return p.s.allows(p.s.wanted[vm], node) }

// Cost returns the least that it costs to have a VM on a node, in the objective.
func (p Placement) Cost(vm, node int) int64 { return p.s.placeCost(p.s.wanted[vm], node) }

// Apart returns the sets of VMs of which no two may share a node.
func (p Placement) Apart() (sets [][]int) {
	number := map[int]int{}
	for i, vm := range p.s.wanted {
		number[vm] = i
	}
	for _, r := range p.s.in.Rules {
		a, ok := r.Rule.(Apart)
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
	return slices.ContainsFunc(p.s.guards, func(g postedGuard) bool { return g.penalty == 0 })
}

// Admits reports whether a VM without a place may come to a node beside those that
// have one, as far as rules are concerned.
func (p Placement) Admits(vm, node int) bool {
	breaches, _ := p.s.delta(p.s.wanted[vm], repack.Nowhere, node)
	return breaches <= 0
}

// Come gives a VM a place.
func (p Placement) Come(vm, node int) { p.s.move(p.s.wanted[vm], node) }

// Go takes the place of a VM away.
func (p Placement) Go(vm, _ int) { p.s.move(p.s.wanted[vm], repack.Nowhere) }

// startAt searches from an initial placement, on the nodes that it uses only.
func startAt(in *repack.Instance, o Options) *Result {
	at := o.Initial(Placement{New(NewProblem(in, o.Objective))}) // it moves VMs
	if at == nil {
		return &Result{Verdict: Exhausted}
	}
	p := newParty(in, o, nil)
	first := p.searches[0]
	used := make([]bool, len(in.Nodes))
	for _, n := range at {
		used[n] = true
	}
	for _, s := range p.searches {
		s.Problem.restrictTo(used)
		s.bounds.findPreferences()
	}
	p.bound = first.bounds.value()
	for i, vm := range first.wanted {
		first.move(vm, at[i])
	}
	first.refreshDelays(first.openNodes...)
	first.schedulePlacement()
	p.takeBest(p.searches[:1])
	p.improve()
	if p.best == nil {
		return &Result{Verdict: Exhausted}
	}
	return p.result()
}
