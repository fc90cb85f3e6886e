package schedule

import (
	"cmp"
	"slices"

	"vjob/repack"
)

// nodeSwitches makes nodes go off after the last departure and come on before the first
// arrival.
func (o *precedence) nodeSwitches() {
	resumes := map[int][]int{} // by the node that has the image
	for i := range o.plan.Actions {
		if a := &o.plan.Actions[i]; a.Kind == repack.Resume {
			resumes[a.From] = append(resumes[a.From], i)
		}
	}
	for i := range o.plan.Actions {
		a := &o.plan.Actions[i]
		switch a.Kind {
		case repack.NodeOff:
			o.wait(a, o.goes.At(a.To))
			a.After = append(a.After, resumes[a.To]...)
		case repack.NodeOn:
			for _, j := range o.comes.At(a.To) {
				o.plan.Actions[j].After = append(o.plan.Actions[j].After, i)
			}
		default:
		}
	}
}

// nodeLimits makes nodes come on after so many have gone off that limits hold at every
// instant, like [precedence].
func (o *precedence) nodeLimits() {
	acts := o.plan.Actions
	for _, l := range o.Limits {
		if !l.Always {
			continue
		}
		var on, off []int
		for i := range acts {
			switch a := &acts[i]; {
			case !a.Kind.OnNode() || !slices.Contains(l.Nodes, a.To):
			case a.Kind == repack.NodeOn:
				on = append(on, i)
			default:
				off = append(off, i)
			}
		}
		slices.SortStableFunc(off, func(a, b int) int { return cmp.Compare(acts[a].End, acts[b].End) })
		free, gone := l.Most, 0
		for _, n := range l.Nodes {
			if o.In.Nodes[n].State == repack.Online {
				free--
			}
		}
		for _, i := range on {
			for free--; free < 0 && gone < len(off) && acts[off[gone]].End <= acts[i].Start; gone++ {
				free++
			}
			acts[i].After = append(acts[i].After, off[:gone]...)
		}
	}
}
