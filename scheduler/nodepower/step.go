package nodepower

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy/power"
	"vjob/energy/power/cycle"
)

// mostSteps bounds the steps of a node at one instant.
const mostSteps = 8

// Step advances every node that is going off or on as far as possible. Affords reports whether there
// is power for a node to come on. Step reports whether the state of a node for placement has
// changed.
func (b *Controller) Step(now time.Time, affords func(cluster.NodeID) bool) (changed bool) {
	b.wake = time.Time{}
	for _, id := range slices.Sorted(maps.Keys(b.moving)) {
		n := b.nodes[id]
		for range mostSteps {
			before := n.record.Phase
			more := b.step(now, n, affords)
			changed = changed || n.record.Phase != before
			if !more {
				break
			}
		}
	}
	return changed
}

// onAgain is the pause before another try to switch a node on that lacked power.
const onAgain = 30 * time.Second

// step takes one step, and reports whether there may be another at once.
func (b *Controller) step(now time.Time, n *switchedNode, affords func(cluster.NodeID) bool) (more bool) {
	before := n.record.Phase
	if before == cycle.Off && n.record.Want == cycle.WantOn && !affords(n.record.Node) {
		b.sooner(now.Add(onAgain))
		return false
	}
	m := cycle.Step(n.record, b.sight(n), b.limits, now)
	n.record = m.Record
	if m.Changed {
		b.write(now, n, m.Message, m.Alarm)
	}
	if n.record.Phase != before {
		b.rest(now, n.record)
	}
	if m.Request {
		n.busy, n.tried = true, now
		b.asks = append(b.asks, power.Request{Node: n.record.Node, Verb: m.Verb, At: now})
		return false
	}
	if !m.Wake.IsZero() {
		b.sooner(m.Wake)
	}
	return m.Changed
}

// sight returns what is observed of a node.
func (b *Controller) sight(n *switchedNode) cycle.Observation {
	answers, since := b.exec.Answers(n.record.Node)
	n.holds = ""
	if n.record.Phase == cycle.Emptying {
		n.holds = b.exec.InUse(n.record.Node)
	}
	return cycle.Observation{
		Answers: answers, Since: since, Blocker: n.holds, Power: n.state, ReportedAt: n.asked, AskedAt: n.tried,
		Pending: n.busy, LastError: n.trouble, ByUser: n.record.By != "",
	}
}

// Answered takes the reply of the power driver of a node.
func (b *Controller) Answered(now time.Time, ask power.Request, state power.State, err error) {
	n, known := b.nodes[ask.Node]
	if !known || !n.tried.Equal(ask.At) {
		return // a reply to a request from before the journal was loaded anew
	}
	n.busy = false
	switch {
	case err != nil:
		n.trouble = fmt.Sprintf("%s: %v", ask.Verb, err)
	case ask.Verb == power.Query:
		n.state, n.asked = state, now
		b.exec.Hint(now, ask.Node) // does it still answer?
	default:
		n.trouble = ""
	}
}
