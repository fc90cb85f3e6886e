package ctxswitch

import (
	"slices"

	"vjob/cluster"
)

// Before returns what of a plan has to end before some of its actions begin (VMware 2012 §3.1.6): migrations, and the
// vjobs that are suspended, paused or stopped, in the order of the plan.
func (p *Plan) Before(some func(a *Action) bool) (moves []cluster.Move, leave []cluster.VJobID) {
	needed := make([]bool, len(p.Actions))
	for i := range slices.Backward(p.Actions) { // an action waits for those with lower numbers only
		a := &p.Actions[i]
		own := some(a)
		if !own && !needed[i] {
			continue
		}
		for _, id := range a.After {
			needed[id] = true
		}
		needed[i] = needed[i] && !own
	}
	for i := range p.Actions {
		a := &p.Actions[i]
		switch {
		case !needed[i]:
		case a.Kind == cluster.Migrate:
			moves = append(moves, cluster.Move{VM: a.VM, From: a.From, To: a.To})
		case (a.Kind == cluster.Suspend || a.Kind == cluster.Pause || a.Kind == cluster.Stop) && !slices.Contains(leave, a.VM.VJob):
			leave = append(leave, a.VM.VJob)
		}
	}
	return moves, leave
}
