package ctxswitch

import (
	"slices"

	"vjob/cluster"
)

// Without returns the plan without the actions that start some vjobs: these stay as they were
// before it, and the others do all that they would have done. No action waits for a starting
// vjob, since a start frees no room.
func (p *Plan) Without(starting []cluster.VJobID, before *cluster.Configuration) Plan {
	left := Plan{Leaves: p.Leaves, Dropped: p.Dropped}
	number := make([]ActionID, len(p.Actions))
	for _, a := range p.Actions {
		if slices.Contains(starting, a.VM.VJob) {
			number[a.ID] = -1
			continue
		}
		number[a.ID] = ActionID(len(left.Actions))
		a.ID, a.After = number[a.ID], renumbered(a.After, number)
		left.Actions = append(left.Actions, a)
		left.Makespan = max(left.Makespan, a.End)
	}
	for _, g := range p.Gangs {
		g.Actions = renumbered(g.Actions, number)
		if len(g.Actions) > 0 {
			left.Gangs = append(left.Gangs, g)
		}
	}
	left.Cost = planCost(left.Actions)
	left.Target = p.Target.Clone()
	for _, vm := range p.Target.VMs() {
		if !slices.Contains(starting, vm.VJob) {
			continue
		}
		if state, _ := before.State(vm); state == cluster.VMSleeping {
			left.Target.SetSleeping(vm, before.Need(vm), before.Place(vm))
		} else {
			left.Target.SetWaiting(vm, before.Need(vm))
		}
	}
	return left
}

// renumbered are the actions that are left, by their new numbers.
func renumbered(ids, number []ActionID) (list []ActionID) {
	for _, id := range ids {
		if number[id] >= 0 {
			list = append(list, number[id])
		}
	}
	return list
}
