package ctxswitch

import (
	"cmp"
	"slices"
)

// Join adds the actions of a plan for other VMs, in room that this plan does not use: both
// are carried out side by side. The target stays that of this plan.
func (p *Plan) Join(other *Plan) {
	shift := ActionID(len(p.Actions))
	moved := func(ids []ActionID) []ActionID {
		list := slices.Clone(ids)
		for i := range list {
			list[i] += shift
		}
		return list
	}
	for _, a := range other.Actions {
		a.ID, a.After = a.ID+shift, moved(a.After)
		p.Actions = append(p.Actions, a)
	}
	for _, g := range other.Gangs {
		g.Actions = moved(g.Actions)
		p.Gangs = append(p.Gangs, g)
	}
	slices.SortStableFunc(p.Gangs, func(a, b Gang) int {
		return cmp.Compare(p.Actions[a.Actions[0]].Start, p.Actions[b.Actions[0]].Start)
	})
	p.Cost += other.Cost
	p.Makespan = max(p.Makespan, other.Makespan)
	p.Leaves, p.Dropped = append(p.Leaves, other.Leaves...), append(p.Dropped, other.Dropped...)
}
