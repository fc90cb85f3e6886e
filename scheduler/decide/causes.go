package decide

import (
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
)

// explain records the cause of each gang of the plan.
func (d *Decision) explain() {
	a := d.final
	if len(d.Plan.Gangs) == 0 {
		return
	}
	index := make(map[cluster.VJobID]int, len(a.VJobs))
	for i := range a.VJobs {
		index[a.VJobs[i].Job.ID] = i
	}
	d.Plan.Gangs = slices.Clone(d.Plan.Gangs)
	starters := d.starters(index)
	for k := range d.Plan.Gangs {
		g := &d.Plan.Gangs[k]
		i, known := index[g.VJob]
		if !known {
			continue
		}
		job, v := a.VJobs[i].Job, &d.Verdicts[i]
		switch stays := job.State == cluster.Running && v.Target == queue.Run; {
		case stays:
			g.Cause = d.moved(g, starters)
		case v.Target == queue.Run:
			g.Cause = &cluster.Cause{Kind: cluster.CauseRoom, Text: v.Because()}
		case v.Cause != nil:
			g.Cause = v.Cause
		case job.State == cluster.Paused: // keep the cause of its pause
			g.Cause = job.Cause
		default:
			g.Cause = cluster.Because(v.Because())
		}
	}
}

// starters returns the vjobs that the plan starts or resumes.
func (d *Decision) starters(index map[cluster.VJobID]int) (list []cluster.VJobRef) {
	for _, g := range d.Plan.Gangs {
		i, known := index[g.VJob]
		starts := g.Kind == cluster.Boot || g.Kind == cluster.Resume || g.Kind == cluster.Unpause
		if known && starts && d.final.VJobs[i].Job.State.Ready() {
			list = append(list, d.final.VJobs[i].Job.Ref())
		}
	}
	return list
}

// moved returns why a running vjob changes nodes: its node is drained, rules are broken, or
// other vjobs need its resources.
func (d *Decision) moved(g *ctxswitch.Gang, starters []cluster.VJobRef) *cluster.Cause {
	c := &cluster.Cause{}
	for _, id := range g.Actions {
		from := d.Plan.Actions[id].From
		if node, known := d.final.trial.current.Node(from); known && node.State == cluster.Draining && !slices.Contains(c.Nodes, from) {
			c.Kind, c.Nodes = cluster.CauseDrained, append(c.Nodes, from)
		}
	}
	switch {
	case c.Kind != "":
	case len(starters) > 0:
		c = &cluster.Cause{Kind: cluster.CausePreempted, VJobs: starters}
	case len(d.Breaches) > 0:
		c = &cluster.Cause{Kind: cluster.CauseRule, Text: d.Breaches[0]}
	}
	return c
}
