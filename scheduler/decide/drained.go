package decide

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/placement"
	"vjob/queue"
)

// Rules of users do not stop a drain: a vjob that its own rules keep on the node is suspended to
// disk, and resumes elsewhere or waits for the node. Administrators see the vjobs that cannot be
// suspended.

// evacuate suspends the vjobs that their own rules keep on drained nodes.
func (a *attempt) evacuate(targets []queue.Verdict) {
	for i, node := range a.boundToDrained() {
		r := &a.VJobs[i]
		if r.Job.State == cluster.Paused {
			a.leavesNode[r.Job.ID] = true
			continue
		}
		if targets[i].Target != queue.Run {
			continue
		}
		if why := a.unsuspendable(r); why != "" {
			targets[i].Reason += fmt.Sprintf("; node %s is drained, its rules keep it there, and %s", node, why)
			continue
		}
		a.leavesNode[r.Job.ID] = true
		targets[i] = queue.Verdict{
			Target: queue.Suspend, Reason: fmt.Sprintf("suspended: node %s is drained, and its own rules keep it from leaving while it runs", node),
			Cause: &cluster.Cause{Kind: cluster.CauseDrained, Nodes: []cluster.NodeID{node}, Text: "its own rules keep it from leaving while it runs"},
		}
	}
}

// boundToDrained returns the idle vjobs, running or paused, that rules of their own keep on a
// drained node, with the node.
func (a *attempt) boundToDrained() map[int]cluster.NodeID {
	if len(a.drained) == 0 {
		return nil
	}
	there := map[int]cluster.NodeID{}
	for i := range a.VJobs {
		r := &a.VJobs[i]
		if id := r.Job.ID; r.Job.Rules == "" || !r.Idle || r.Blind || a.excludes(id) {
			continue
		}
		if nodes := a.drainedNodes(r); len(nodes) > 0 {
			there[i] = nodes[0]
		}
	}
	if len(there) == 0 {
		return nil
	}
	own := slices.DeleteFunc(slices.Clone(a.trial.rules), func(r placement.Rules) bool { return r.VJob == 0 })
	l, err := ctxswitch.NewAllowedNodes(ctxswitch.Problem{Current: a.trial.current, Rules: own, Pinned: a.trial.pinned, Live: a.trial.live, Costs: *a.costs})
	if err != nil {
		return nil // planning fails as well, and the decision says why
	}
	maps.DeleteFunc(there, func(i int, _ cluster.NodeID) bool {
		r := &a.VJobs[i]
		return !slices.ContainsFunc(r.Job.VMs, func(vm cluster.VM) bool {
			return a.drained[r.Record.Members[vm.ID.Rank].Node] && l.Confined(vm.ID)
		})
	})
	return there
}

// drainedNodes returns the drained nodes with VMs of a running or paused vjob.
func (v *View) drainedNodes(r *execute.Report) (nodes []cluster.NodeID) {
	if r.Job.State != cluster.Running && r.Job.State != cluster.Paused {
		return nil
	}
	for _, m := range r.Record.Members {
		if !m.Ended && v.drained[m.Node] && !slices.Contains(nodes, m.Node) {
			nodes = append(nodes, m.Node)
		}
	}
	return nodes
}

// unsuspendable returns why a running vjob is not suspended for a drain; "" if it can be.
func (v *View) unsuspendable(r *execute.Report) string {
	switch job := r.Job; {
	case job.Container:
		return "a container is not suspended"
	case !job.Reservation.IsZero():
		return "it has its room by a reservation"
	case job.Preemption == cluster.Never:
		return "it never makes room"
	case queue.IsEnded(job):
		return "it would have to start anew"
	case v.facts.Now.Before(r.Record.Since.Add(time.Duration(job.MinRun))):
		return "it makes no room before " + cluster.Clock(r.Record.Since.Add(time.Duration(job.MinRun)), v.facts.Now)
	}
	return ""
}

// Undrained returns the drained nodes that keep VMs after a decision, each with the reason.
func (d *Decision) Undrained() map[cluster.NodeID]string {
	if len(d.final.drained) == 0 {
		return nil
	}
	blocked := map[cluster.NodeID][]string{}
	for i := range d.VJobs {
		r := &d.VJobs[i]
		if !r.Idle || r.Blind {
			continue
		}
		nodes, target := d.final.drainedNodes(r), d.Verdicts[i].Target
		leaves := target == queue.Suspend || r.Job.State == cluster.Running && target != queue.Run
		if len(nodes) == 0 || leaves || d.final.moves(r, d.Plan.Target) {
			continue
		}
		why := d.Verdicts[i].Reason
		if lacks := d.final.incompatibility(r); lacks != "" {
			why += "; " + lacks
		}
		for _, node := range nodes {
			blocked[node] = append(blocked[node], fmt.Sprintf("vjob %s of %s (%s)", r.Job.ID, r.Job.Owner, why))
		}
	}
	texts := make(map[cluster.NodeID]string, len(blocked))
	for node, list := range blocked {
		more := ""
		if n := len(list) - maxNamed; n > 0 {
			list, more = list[:maxNamed], fmt.Sprintf(" and %d more", n)
		}
		texts[node] = "not drained yet: it still has " + strings.Join(list, ", ") + more
	}
	return texts
}

// maxNamed is how many of the vjobs on a drained node its reason names.
const maxNamed = 3

// moves reports whether a plan takes a VM of a vjob off a drained node.
func (v *View) moves(r *execute.Report, target *cluster.Configuration) bool {
	return target != nil && slices.ContainsFunc(r.Job.VMs, func(vm cluster.VM) bool {
		at := r.Record.Members[vm.ID.Rank].Node
		return v.drained[at] && target.Place(vm.ID) != at
	})
}

// mayPause reports whether a suspended vjob may stay in memory on its nodes.
func (a *attempt) mayPause(job *cluster.VJob) bool {
	return !a.leavesNode[job.ID] && a.settings.mayPause(job)
}
