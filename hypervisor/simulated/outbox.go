package simulated

import (
	"cmp"
	"slices"
	"time"
)

// hintRepeatedWithin bounds the delay of a repeated hint.
const hintRepeatedWithin = 10 * time.Second

// outbox holds the notices that [Cluster.Advance] returns next.
type outbox struct {
	clock   *clock
	random  *random
	faults  *faultPlan
	notices []Notice
	hinted  []*node // nodes with a hint for the end of the instant
}

// take returns the notices since the last call.
func (out *outbox) take() []Notice {
	notices := out.notices
	out.notices = nil
	return notices
}

// reply adds the answer of a call.
func (out *outbox) reply(r Reply) {
	out.notices = append(out.notices, Notice{At: r.Ended, Reply: &r})
}

// hint records that something changed on a node.
func (out *outbox) hint(n *node) {
	if !n.hinted {
		n.hinted = true
		out.hinted = append(out.hinted, n)
	}
}

// flushHints sends the hints of an instant, at most one for each node, unless the node is
// unreachable; a frozen node sends its hint when it thaws. Some hints are lost or repeated.
func (out *outbox) flushHints() {
	hinted := out.hinted
	out.hinted = nil
	slices.SortFunc(hinted, func(a, b *node) int { return cmp.Compare(a.ID, b.ID) })
	for _, n := range hinted {
		if n.has(Freeze) {
			n.touch()
			continue
		}
		n.hinted = false
		if n.has(Partition) || n.has(DaemonKilled) || out.random.bernoulli(out.faults.rates.HintLost) {
			continue
		}
		out.notices = append(out.notices, Notice{At: out.clock.time(), Hint: n.ID})
		if out.random.bernoulli(out.faults.rates.HintRepeated) {
			out.clock.schedule(out.random.uniform(hintRepeatedWithin), event{Kind: evHint, Node: n.ID})
		}
	}
}
