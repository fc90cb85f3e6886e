package schedule

import (
	"cmp"
	"slices"

	"vjob/repack"
)

// transfers has what crosses a link wait for those whose ends give it the
// bandwidth, in the way of [order]: on each link, what starts waits for as many of
// those that end, from the first on, as it takes for the rates of all that have
// started up to it to fit. Whichever of them are under way then, however late, they
// are among those.
func (o *order) transfers() {
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

// link orders the actions on one link. Those before a mark have ended when the one
// that was marked starts, so whoever waits for that need not wait for them.
func (o *order) link(free int64, starts []int) {
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
