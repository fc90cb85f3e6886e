package decide

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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
		if why := a.facts.unsuspendable(r); why != "" {
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
	if len(a.layout.drained) == 0 {
		return nil
	}
	there := map[int]cluster.NodeID{}
	for i := range a.VJobs {
		r := &a.VJobs[i]
		if id := r.Job.ID; r.Job.Rules == "" || r.Busy() || a.excludes(id) {
			continue
		}
		if nodes := a.layout.drained.of(r); len(nodes) > 0 {
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
			return a.layout.drained[r.Record.Members[vm.ID.Rank].Node] && l.Confined(vm.ID)
		})
	})
	return there
}

// drainedNodes are the answering nodes that are to become empty.
type drainedNodes map[cluster.NodeID]bool

// of returns the drained nodes with VMs of a running or paused vjob.
func (d drainedNodes) of(r *execute.Report) (nodes []cluster.NodeID) {
	if r.Job.State != cluster.Running && r.Job.State != cluster.Paused {
		return nil
	}
	for _, m := range r.Record.Members {
		if !m.Ended && d[m.Node] && !slices.Contains(nodes, m.Node) {
			nodes = append(nodes, m.Node)
		}
	}
	return nodes
}

// Undrained returns the drained nodes that keep VMs after a decision, each with the reason.
func (d *Decision) Undrained() map[cluster.NodeID]string {
	if len(d.final.layout.drained) == 0 {
		return nil
	}
	blocked := map[cluster.NodeID][]string{}
	for i := range d.VJobs {
		r := &d.VJobs[i]
		if r.Busy() {
			continue
		}
		nodes, target := d.final.layout.drained.of(r), d.Verdicts[i].Target
		leaves := target == queue.Suspend || r.Job.State == cluster.Running && target != queue.Run
		if len(nodes) == 0 || leaves || d.final.layout.drained.leftBy(r, d.Plan.Target) {
			continue
		}
		why := d.Verdicts[i].Reason
		if lacks := (compatibility{d.final.View}).gap(r); lacks != "" {
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

// leftBy reports whether a plan takes a VM of a vjob off a drained node.
func (d drainedNodes) leftBy(r *execute.Report, target *cluster.Configuration) bool {
	return target != nil && slices.ContainsFunc(r.Job.VMs, func(vm cluster.VM) bool {
		at := r.Record.Members[vm.ID.Rank].Node
		return d[at] && target.Place(vm.ID) != at
	})
}

// mayPause reports whether a suspended vjob may stay in memory on its nodes.
func (a *attempt) mayPause(job *cluster.VJob) bool {
	return !a.leavesNode[job.ID] && a.settings.mayPause(job)
}
