package exact

import (
	"vjob/repack"
)

// breaksMore reports whether the plan that leads to a state has broken more soft rules on whole plans than
// was known, and counts them. What is broken by now stays so, whatever follows.
func (e *search) breaksMore(x *state) bool {
	if !e.Uncounted || e.any || x.judged {
		return false
	}
	x.judged = true
	sum := int64(0)
	t, _ := repack.Trace(e.In, e.partial(x))
	for _, r := range e.In.Rules {
		if r.Penalty == 0 {
			continue
		}
		for _, b := range r.Check(t) {
			if b.At <= x.clock {
				sum += r.Penalty
			}
		}
	}
	more := max(0, sum-x.broken)
	x.broken += more
	x.least += more
	return more > 0
}

// later is after all that a search looks at.
const later = repack.Forever / 2

// partial is the plan that leads to a state. VMs that stay do not grow before its end.
func (e *search) partial(x *state) *repack.Plan {
	p := &repack.Plan{}
	for y := x; y != nil; y = y.before {
		if y.does {
			p.Actions = append(p.Actions, y.action)
		}
	}
	for vm := range x.vms {
		if v, w := &e.In.VMs[vm], &x.vms[vm]; v.Keeps() && v.Grows() && !w.has(moved) {
			p.Actions = append(p.Actions, repack.Action{Kind: repack.Allocate, VM: vm, From: repack.Nowhere, To: v.Host, Start: later, End: later})
		}
	}
	return p
}
