package schedule

import (
	"cmp"
	"slices"

	"vjob/repack"
)

// Plan returns the plan of a complete schedule: actions sorted by start, what each waits for,
// and when the VMs that stay get their share.
func (c *Schedule) Plan() *repack.Plan {
	order := make([]int, len(c.tasks))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &c.tasks[a], &c.tasks[b]
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.number, y.number), cmp.Compare(a, b))
	})
	p := &repack.Plan{Actions: make([]repack.Action, 0, len(order))}
	for _, i := range order {
		t := &c.tasks[i]
		p.Actions = append(p.Actions, repack.Action{Kind: t.kind, VM: t.vm, From: t.from, To: t.to, Start: t.start, End: t.end, Rate: t.rate})
	}
	newPrecedence(c.Problem, p).write()
	return p
}

// CountKind returns the number of tasks of a kind.
func (c *Schedule) CountKind(kind repack.Kind) (sum int64) {
	for i := range c.tasks {
		if c.tasks[i].kind == kind {
			sum++
		}
	}
	return sum
}

// inTime reports whether every action meets its deadlines.
func (c *Schedule) inTime() bool {
	for i := range c.tasks {
		t := &c.tasks[i]
		d, ok := c.Deadlines[t.vm]
		if ok && t.vm != repack.Nowhere && (t.start > d.Start || t.end > d.End) {
			return false
		}
	}
	return true
}

// Indirect reports whether the schedule has bypasses, or is stuck.
func (c *Schedule) Indirect() bool { return c.pending > 0 || c.bypasses > 0 }

// Complete reports whether every task starts, and meets its deadlines.
func (c *Schedule) Complete() bool { return c.pending == 0 && c.inTime() }
