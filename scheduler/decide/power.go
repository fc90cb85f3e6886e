package decide

import (
	"maps"

	"vjob/cluster"
	"vjob/energy"
	"vjob/queue"
)

// Wanted is a node that is off and should come on, with what it draws meanwhile.
type Wanted struct {
	Node  cluster.NodeID
	Watts energy.Watts
}

// keepPower keeps power within the limits for nodes that should come on, as far as the minimum
// shares of all running vjobs leave it. No vjob stops for a node.
func (p *View) keepPower(wanted []Wanted) {
	if len(p.Limits) == 0 || len(wanted) == 0 {
		return
	}
	verdicts := p.runningVerdicts()
	over := p.excess(verdicts)
	for _, w := range wanted {
		before := p.least[w.Node]
		p.least[w.Node] = max(before, w.Watts)
		if after := p.excess(verdicts); after > over {
			p.least[w.Node] = before
			continue
		}
		p.KeptPower[w.Node] = w.Watts
	}
}

// runningVerdicts returns verdicts that keep vjobs running that run or are about to.
func (p *View) runningVerdicts() []queue.Verdict {
	verdicts := make([]queue.Verdict, len(p.VJobs))
	for i := range p.VJobs {
		if p.VJobs[i].Bound == cluster.VMRunning {
			verdicts[i].Target = queue.Run
		}
	}
	return verdicts
}

// excess returns by how much the limits are exceeded together if all vjobs that should run get
// their minimum shares.
func (p *View) excess(verdicts []queue.Verdict) (sum energy.Watts) {
	q := p.newShareProblem(p.intended, verdicts, p.Limits)
	runs := make([]bool, len(q.Jobs))
	for k := range runs {
		runs[k] = true
	}
	for _, over := range q.Excess(runs) {
		sum += over
	}
	return sum
}

// AssumeOff counts a node as off that is going off and still draws power.
func (p *View) AssumeOff(id cluster.NodeID) {
	p.off[id] = true
	delete(p.least, id)
}

// Dispensable returns how many of some empty nodes, from the first, should go off so that the
// most vjobs run with the power that they release.
func (p *View) Dispensable(empty []cluster.Node) int {
	return argmax(len(empty), func(n int) int { return p.runsWithout(empty, n) })
}

// runsWithout returns how many vjobs would run with the first of some nodes off.
func (p *View) runsWithout(empty []cluster.Node, off int) int {
	was := p.off
	p.off = maps.Clone(was)
	defer func() { p.off = was }()
	for _, n := range empty[:off] {
		p.off[n.ID] = true
	}
	online := make([]cluster.Node, len(empty))
	for i := range empty {
		online[len(empty)-1-i] = empty[i]
	}
	return p.runs(online, len(empty)-off)
}
