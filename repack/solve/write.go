package solve

import (
	"cmp"
	"slices"

	"vjob/repack"
)

// plan writes a complete schedule down: actions in order of their start, what each
// waits for, and when those that stay get their share.
func (c *schedule) plan() *repack.Plan {
	order := make([]int, len(c.list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &c.list[a], &c.list[b]
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.number, y.number), cmp.Compare(a, b))
	})
	p := &repack.Plan{Actions: make([]repack.Action, 0, len(order))}
	for _, i := range order {
		t := &c.list[i]
		p.Actions = append(p.Actions, repack.Action{Kind: t.kind, VM: t.vm, From: t.from, To: t.to, Start: t.start, End: t.end, Rate: t.rate})
	}
	newOrder(c.model, p).write()
	return p
}
