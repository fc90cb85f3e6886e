package schedule

import (
	"cmp"
	"slices"

	"vjob/repack"
)

// transfers makes what crosses a link wait for the transfers that free bandwidth, like
// [precedence]: on each link, a start waits for as many of the first ends as make the rates fit of
// all that have started up to it. These include all transfers that may still run then, however
// late they are.
func (o *precedence) transfers() {
	on := make([][]int, o.In.Links())
	for i := range o.plan.Actions {
		if a := &o.plan.Actions[i]; a.Rate > 0 {
			for _, l := range o.In.AppendCrossed(nil, a.From, a.To) {
				on[l] = append(on[l], i)
			}
		}
	}
	for l := range on {
		o.link(o.In.Bandwidth(repack.Link(l)), on[l])
	}
}

// link orders the actions on one link. The actions before a mark have ended when the marked
// one starts, so an action that waits for the marked one need not wait for them.
func (o *precedence) link(free int64, starts []int) {
	acts := o.plan.Actions
	ends := slices.Clone(starts)
	slices.SortStableFunc(starts, func(a, b int) int { return cmp.Compare(acts[a].Start, acts[b].Start) })
	slices.SortStableFunc(ends, func(a, b int) int { return cmp.Compare(acts[a].End, acts[b].End) })
	marks := make(map[int]int, len(starts))
	gone, known := 0, 0
	for _, i := range starts {
		for free -= acts[i].Rate; free < 0 && gone < len(ends) && acts[ends[gone]].End <= acts[i].Start; gone++ {
			free += acts[ends[gone]].Rate
			known = max(known, marks[ends[gone]])
		}
		marks[i] = gone
		acts[i].After = append(acts[i].After, ends[known:gone]...)
	}
}
