package solve

import (
	"slices"

	"vjob/repack"
	"vjob/repack/packing"
)

// fewest looks for a plan that leaves as few nodes in use as can be (VMPP, thesis
// §7), and among those for a cheap one (VMRP, thesis §8.4.2): the packing decides
// which nodes, and the search then knows no others. Nil: that came to nothing.
func fewest(in *repack.Instance, o Options) *Result {
	p := newParty(in, o, nil)
	first := p.searches[0]
	problem := newState(newModel(in, o.Objective)).packing() // it moves VMs about
	budget := packing.Budget{Seed: o.Seed, Stop: p.Stop}
	answer := packing.Fewest(problem, budget)
	if answer.At == nil {
		return nil
	}
	at := answer.At
	if r := packing.Cheapest(problem, answer.Used, budget, at); r.At != nil {
		at = r.At
	}
	used := make([]bool, len(in.Nodes))
	for _, n := range at {
		used[n] = true
	}
	for _, s := range p.searches {
		s.close(used)
	}
	p.bound = first.model.bound()
	for i, vm := range first.hot {
		first.move(vm, at[i])
	}
	first.refresh(first.order...)
	first.try()
	p.meet(p.searches[:1])
	p.improve()
	if p.best == nil {
		return nil
	}
	r := p.result()
	r.Bound = int64(answer.Bound)
	r.Proved = int64(r.Figures.NodesUsed) <= r.Bound
	return r
}

// packing is who is to run at the end, and where that may be, as a packing problem.
func (s *state) packing() *packing.Problem {
	p := &packing.Problem{
		May:  func(i, n int) bool { return s.allows(s.hot[i], n) },
		Cost: func(i, n int) int64 { return s.model.cost(s.hot[i], n) },
	}
	for n := range s.in.Nodes {
		p.Room = append(p.Room, s.room[n*s.dims:(n+1)*s.dims])
	}
	item := map[int]int{}
	for i, vm := range s.hot {
		item[vm] = i
		p.Need = append(p.Need, s.next[vm*s.dims:(vm+1)*s.dims])
	}
	for _, r := range s.in.Rules {
		a, ok := r.Rule.(apart)
		if !ok || r.Penalty > 0 {
			continue
		}
		var set []int
		for _, vm := range a.Apart() {
			if i, ok := item[vm]; ok {
				set = append(set, i)
			}
		}
		p.Apart = append(p.Apart, set)
	}
	if slices.ContainsFunc(s.guards, func(g posted) bool { return g.penalty == 0 }) {
		p.Veto = &veto{s}
	}
	return p
}

// veto is the hard rules of a search, asked by a packing.
type veto struct{ *state }

func (v *veto) Admits(i, n int) bool {
	breaches, _ := v.delta(v.hot[i], repack.Nowhere, n)
	return breaches <= 0
}

func (v *veto) Come(i, n int) { v.move(v.hot[i], n) }
func (v *veto) Go(i, _ int)   { v.move(v.hot[i], repack.Nowhere) }

// close leaves only some nodes to end on.
func (m *model) close(keep []bool) {
	for n := range m.open {
		m.open[n] = m.open[n] && keep[n]
	}
	m.order = slices.DeleteFunc(m.order, func(n int) bool { return !m.open[n] })
	m.wishes()
}
