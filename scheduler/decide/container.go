package decide

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
	"vjob/queue"
)

// A container is a small cluster: its share of each node is a node of a view of its own, and the
// same policy and planner decide there. On the cluster the container counts, and the vjobs inside
// do not.

// containerView is the view of the nodes inside a container.
type containerView struct {
	*View
	container *cluster.VJob
	left      time.Duration // of its walltime
}

// splitByContainer separates the vjobs that run on the cluster itself from those inside
// containers.
func splitByContainer(vjobs []execute.Report) (own []execute.Report, inner map[cluster.VJobID][]execute.Report) {
	if !slices.ContainsFunc(vjobs, func(r execute.Report) bool { return r.Job.Inner != 0 }) {
		return vjobs, nil
	}
	own, inner = make([]execute.Report, 0, len(vjobs)), map[cluster.VJobID][]execute.Report{}
	for i := range vjobs {
		if id := vjobs[i].Job.Inner; id != 0 {
			inner[id] = append(inner[id], vjobs[i])
		} else {
			own = append(own, vjobs[i])
		}
	}
	return own, inner
}

// newContainerView makes the view inside a container.
func newContainerView(v *View, f *Facts, c *execute.Report, vjobs []execute.Report) containerView {
	g, s := *f, *v.settings
	g.Rules, g.Budgets, g.Pools = nil, nil, nil
	s.Ordering, s.Energy, s.Failover = nil, Energy{}, 0 // they apply to the container
	left := max(0, c.Job.Walltime-c.Ran)
	g.VJobs, g.Nodes = make([]execute.Report, len(vjobs)), containerNodes(f.Nodes, c)
	for i, r := range vjobs {
		if r.Job.Walltime == 0 { // it may run until the container ends
			r.Job = r.Job.Clone()
			r.Job.Walltime = r.Ran + left
		}
		g.VJobs[i] = r
	}
	q := newView(&s, &g)
	if q.closed = closedReason(c); q.closed == "" {
		(&eligibility{q}).barTooLong(c.Job, left)
	}
	v.recheck(q.RecheckAt)
	return containerView{q, c.Job, left}
}

// closedReason returns why no vjob may run inside a container now; "" if vjobs may.
func closedReason(c *execute.Report) string {
	switch {
	case c.Record.Phase == gang.Active && c.Bound == cluster.VMRunning:
		return ""
	case c.Job.State == cluster.Waiting:
		return fmt.Sprintf("its container %s waits", c.Job.ID)
	case c.Bound == cluster.VMTerminated:
		return fmt.Sprintf("its container %s gives its room back", c.Job.ID)
	default:
		return fmt.Sprintf("its container %s %s", c.Job.ID, c.Job.State.Clause())
	}
}

// containerNodes returns the capacity of a container on each node. Nodes without any stay in the
// list with capacity 0: rules may name them, and images are stored there.
func containerNodes(nodes []*execute.NodeReport, c *execute.Report) []*execute.NodeReport {
	has := map[cluster.NodeID]cluster.Resources{}
	if c.Record.Phase == gang.Active || c.Record.Phase == gang.Clearing {
		for rank, m := range c.Record.Members {
			has[m.Node] = has[m.Node].Plus(c.Job.VMs[rank].Reserved)
		}
	}
	list := make([]*execute.NodeReport, len(nodes))
	for i, n := range nodes {
		inside := *n
		inside.Capacity, list[i] = has[n.ID], &inside
	}
	return list
}

// barTooLong makes vjobs ineligible that need more time than their container has left.
func (e *eligibility) barTooLong(c *cluster.VJob, left time.Duration) {
	for i := range e.VJobs {
		r := &e.VJobs[i]
		if need := r.Job.Walltime - r.Ran; need > left && r.Job.State.Ready() {
			e.bar(r.Job.ID, Bar{Reason: fmt.Sprintf("it needs %s, and its container %s holds its room for %s",
				need.Round(time.Second), c.ID, left.Round(time.Second))})
		}
	}
}

// suspendAll returns the verdicts inside a closed container: running and paused vjobs are
// saved, to resume when the container is back.
func suspendAll(v *View) []queue.Verdict {
	verdicts, closed := make([]queue.Verdict, len(v.VJobs)), cluster.Because(v.closed)
	for i := range v.VJobs {
		switch r := &v.VJobs[i]; {
		case v.quarantined[r.Job.ID] != "":
			verdicts[i] = v.quarantinedVerdict(r)
		case r.Busy():
			verdicts[i] = queue.Verdict{Target: bound(r), Reason: "is " + r.Job.State.String()}
		case r.Job.State == cluster.Running || r.Job.State == cluster.Paused:
			verdicts[i] = queue.Verdict{Target: queue.Suspend, Reason: "suspended: " + v.closed, Cause: closed}
		case r.Job.Held:
			verdicts[i].Reason = queue.WhyHeld(r.Job)
		default:
			verdicts[i].Reason = "waits: " + v.closed
		}
	}
	return verdicts
}

// decideInside takes the decisions inside the containers.
func (v *View) decideInside(d *Decision) {
	d.VJobs = slices.Clip(d.VJobs)
	for i := range v.inside {
		q := &v.inside[i]
		in, err := q.decideWithoutCulprits()
		if err != nil || in.Verdicts == nil {
			in = Decision{Verdicts: make([]queue.Verdict, len(q.VJobs)), Why: in.Why}
			for k := range q.VJobs {
				r := &q.VJobs[k]
				in.Verdicts[k] = queue.Verdict{Target: bound(r), Reason: fmt.Sprintf("is %s; no decision can be taken inside container %s", r.Job.State, q.container.ID)}
				if r.Job.State == cluster.Running && r.Idle {
					in.Verdicts[k].Target = queue.Run
				}
			}
		}
		d.Plan.Join(&in.Plan)
		d.Culprits = append(d.Culprits, in.Culprits...)
		d.Breaches = append(d.Breaches, in.Breaches...)
		q.share(d, in.Verdicts)
		d.VJobs, d.Verdicts = append(d.VJobs, q.VJobs...), append(d.Verdicts, in.Verdicts...)
	}
}

// share gives the vjobs inside the same fraction of their CPU as their container has.
func (q *containerView) share(d *Decision, verdicts []queue.Verdict) {
	caps, given := d.Caps[q.container.ID]
	if !given || q.container.VMs[0].Reserved.CPU == 0 {
		return
	}
	for i, v := range verdicts {
		job := q.VJobs[i].Job
		if v.Target != queue.Run && job.State != cluster.Running {
			continue
		}
		list := make([]cluster.MilliCPU, len(job.VMs))
		for rank := range list {
			list[rank] = max(job.VMs[rank].Reserved.CPU*caps[0]/q.container.VMs[0].Reserved.CPU, hypervisor.MinCap)
		}
		d.Caps[job.ID] = list
	}
}
