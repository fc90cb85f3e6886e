package decide

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/placement"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/queue"
)

// Variant is a copy of a view that can be changed, to answer what-if questions.
type Variant struct {
	View
	nested []*Variant // of the views of containers, in their order
}

// Vary returns a variant of the view. The view and the variant can be used at the same time.
func (v *View) Vary() *Variant {
	w := &Variant{View: *v}
	facts := *v.facts
	facts.Past, facts.Nodes = v.facts.Past.Clone(), slices.Clone(v.facts.Nodes)
	w.facts, w.layout, w.VJobs = &facts, v.layout.clone(), slices.Clone(v.VJobs)
	w.supply.Off, w.supply.Least = maps.Clone(v.supply.Off), maps.Clone(v.supply.Least)
	w.inside = slices.Clone(v.inside)
	for i := range w.inside {
		w.nested = append(w.nested, v.inside[i].Vary())
		w.inside[i].View = &w.nested[i].View
	}
	return w
}

// SetNodeState sets the state of a node. The vjobs with VMs in the memory of a node that is down are lost,
// as if the node had been fenced, and wait to start again; images are not lost. It fails with ErrNotFound.
func (w *Variant) SetNodeState(id cluster.NodeID, state cluster.NodeState) error {
	n, known := w.layout.current.Node(id)
	if !known {
		return fmt.Errorf("node %s: %w", id, cluster.ErrNotFound)
	}
	n.State = state
	w.layout.setNode(n)
	w.layout.drained[id] = state == cluster.Draining
	w.setReport(id, func(n *execute.NodeReport) {
		n.State, n.On = state, state != cluster.Down && (n.On || state == cluster.Online)
	})
	if state == cluster.Down {
		w.loseVJobs(id)
	}
	for _, inner := range w.nested {
		_ = inner.SetNodeState(id, state) // the container may have nothing there
	}
	return nil
}

// loseVJobs lets the vjobs wait from their beginning that have VMs in the memory of a node.
func (w *Variant) loseVJobs(node cluster.NodeID) {
	for i := range w.VJobs {
		r := &w.VJobs[i]
		lost := slices.ContainsFunc(r.Record.Members, func(m gang.Member) bool { return m.Node == node && !m.Ended })
		if !lost || r.Job.Container || r.Job.State == cluster.Suspended {
			continue
		}
		job := r.Job.Clone()
		job.State, job.Cause = cluster.Waiting, &cluster.Cause{Kind: cluster.CauseLost, Nodes: []cluster.NodeID{node}}
		w.takeOut(job)
		w.VJobs[i] = waitingReport(job)
		w.addApplicant(i)
	}
}

// takeOut removes the VMs and the rules of a vjob from the layout.
func (w *Variant) takeOut(job *cluster.VJob) {
	for _, vm := range job.VMs {
		w.layout.current.Remove(vm.ID)
		w.layout.change().Remove(vm.ID)
		delete(w.layout.pinned, vm.ID)
		delete(w.layout.immovable, vm.ID)
		delete(w.layout.incompatible, vm.ID)
	}
	w.layout.drop(func(other cluster.VJobID) bool { return other == job.ID })
}

// waitingReport is the report of a vjob for which nothing has begun.
func waitingReport(job *cluster.VJob) execute.Report {
	return execute.Report{Job: job, Idle: true, Bound: cluster.VMWaiting, Record: &gang.Record{VJob: job.ID}}
}

// addApplicant makes the waiting vjob with an index an applicant, after those before it.
func (w *Variant) addApplicant(index int) {
	job := w.VJobs[index].Job
	a := newApplicant(job, func(vm cluster.VMID) cluster.Resources { return w.settings.Needs(job, vm.Rank, 0, false) })
	a.Rules = job.Rules
	place := 0
	for i, k := range w.eachVJob {
		if i < index && k >= 0 {
			place = k + 1
		}
	}
	w.layout.applicants = slices.Insert(w.layout.applicants, place, a)
}

// ReplaceRules replaces a text of cluster rules; "" removes it.
func (w *Variant) ReplaceRules(old, rules string) {
	w.layout.rules = slices.DeleteFunc(w.layout.rules, func(r placement.Rules) bool { return r.VJob == 0 && r.Text == old })
	if rules != "" {
		w.layout.rules = append(w.layout.rules, placement.Rules{Text: rules})
	}
}

// SetClusterBudget replaces the budgets of the whole cluster.
func (w *Variant) SetClusterBudget(most energy.Watts) {
	others := slices.DeleteFunc(slices.Clone(w.Limits.Now), func(l budget.Limit) bool { return l.Group == budget.Group{} })
	w.Limits.Now = append(others, budget.Limit{Watts: most})
}

// Remove takes a vjob and its resources out of the view. It fails with ErrNotFound.
func (w *Variant) Remove(id cluster.VJobID) error {
	i := slices.IndexFunc(w.VJobs, func(r execute.Report) bool { return r.Job.ID == id })
	for _, inner := range w.nested {
		if i < 0 && inner.Remove(id) == nil {
			return nil
		}
	}
	if i < 0 {
		return fmt.Errorf("vjob %s: %w", id, cluster.ErrNotFound)
	}
	w.takeOut(w.VJobs[i].Job)
	w.VJobs = slices.Delete(w.VJobs, i, i+1)
	if k := slices.IndexFunc(w.inside, func(q containerView) bool { return q.container.ID == id }); k >= 0 {
		w.inside, w.nested = slices.Delete(w.inside, k, k+1), slices.Delete(w.nested, k, k+1)
	}
	return nil
}

// Add inserts a vjob that was not submitted at an index; a vjob of a container goes to the end of
// the view of its container.
func (w *Variant) Add(job *cluster.VJob, at int) {
	for i := range w.inside {
		if w.inside[i].container.ID == job.Inner {
			w.nested[i].Add(job, len(w.nested[i].VJobs))
			return
		}
	}
	w.VJobs = slices.Insert(w.VJobs, at, waitingReport(job))
	w.addApplicant(at)
}

// Forward moves the view to a later instant; running vjobs keep running.
func (w *Variant) Forward(to time.Time) {
	if to.After(w.facts.Now) {
		w.facts.Now = to
	}
}

// CanEmpty drains nodes in the view and reports whether all their VMs find places elsewhere, and leave the failover
// capacity there.
func (w *Variant) CanEmpty(nodes []cluster.NodeID) bool {
	for _, id := range nodes {
		n, _ := w.layout.current.Node(id)
		n.State = cluster.Draining
		w.layout.setNode(n)
	}
	if empty(w.layout.current, nodes) {
		return w.failoverHolds(w.layout.intended)
	}
	verdicts := make([]queue.Verdict, len(w.VJobs))
	for i, r := range w.VJobs {
		if r.Job.State == cluster.Running {
			verdicts[i].Target = queue.Run
		}
	}
	a := w.newAttempt(nil)
	goals, _ := a.goals(verdicts)
	plan, err := ctxswitch.Plan{}, error(nil)
	well := withoutPanic(func() { plan, err = ctxswitch.Repacker{}.Plan(a.problem(goals)) })
	// The planner leaves a VM without a place on its drained node.
	return well && err == nil && plan.Target != nil && empty(plan.Target, nodes) && w.failoverHolds(plan.Target)
}

// failoverHolds reports whether nodes can be lost in a configuration.
func (w *Variant) failoverHolds(c *cluster.Configuration) bool {
	f := newFailoverCheck(&w.View)
	return f == nil || f.placement(c).Holds
}

// Replenishing returns how many of some nodes that are off, from the first, have to come on so that nodes can be lost. If
// all of them do not suffice, it returns how many bring as much as all.
func (w *Variant) Replenishing(off []cluster.Node) int {
	best, least := 0, cluster.Resources{}
	for n := range len(off) + 1 {
		if n > 0 {
			node := off[n-1]
			node.State = cluster.Online
			w.layout.setNode(node)
		}
		f := newFailoverCheck(&w.View)
		if f == nil {
			return 0
		}
		report := f.placement(w.layout.intended)
		short := report.Short()
		switch {
		case report.Holds:
			return n
		case n == 0, short.Fits(least) && short != least:
			best, least = n, short
		}
	}
	return best
}

func empty(c *cluster.Configuration, nodes []cluster.NodeID) bool {
	return !slices.ContainsFunc(nodes, func(id cluster.NodeID) bool { return len(c.On(id)) > 0 })
}

// withoutPanic runs a function and reports whether it did not panic: a vjob that makes decisions
// fail is quarantined elsewhere and must not stop power management.
func withoutPanic(do func()) (well bool) {
	defer func() { well = recover() == nil }()
	do()
	return true
}

// Fewest returns how many of the nodes, from the first, suffice to run as many vjobs as all of
// them. Under power limits nodes also use up power, and it returns how many run the most vjobs.
// It leaves some of the nodes online in the view.
func (w *Variant) Fewest(off []cluster.Node) int {
	if len(w.Limits.Now) > 0 {
		return argmax(len(off), func(n int) int { return w.runs(off, n) })
	}
	goal := w.runs(off, len(off))
	if w.runs(off, 0) >= goal {
		return 0
	}
	low, high := 0, len(off) // with low it is too few, with high enough
	for high-low > 1 {
		if mid := (low + high) / 2; w.runs(off, mid) >= goal {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// argmax returns the smallest argmax of value over 0..n. For large n it tries only some numbers,
// each half as large again as the one before.
func argmax(n int, value func(int) int) (best int) {
	for i, largest := 0, -1; i <= n; i++ {
		if v := value(i); v > largest {
			best, largest = i, v
		}
		if i < n {
			i = min(i+i/2, n-1)
		}
	}
	return best
}

// runs returns how many vjobs would run with the first of some nodes online and the others
// offline. Online nodes draw power.
func (w *Variant) runs(nodes []cluster.Node, online int) (count int) {
	was := w.supply.Off
	w.supply.Off = maps.Clone(was)
	defer func() { w.supply.Off = was }()
	for i, n := range nodes {
		n.State = cluster.Offline
		if i < online {
			n.State = cluster.Online
			delete(w.supply.Off, n.ID)
		}
		w.layout.setNode(n)
	}
	var verdicts []queue.Verdict
	withoutPanic(func() { verdicts, _ = w.newAttempt(nil).applyPolicy() })
	for _, v := range verdicts {
		if v.Target == queue.Run {
			count++
		}
	}
	return count
}

// AssumeOff counts a node as off that is going off and still draws power.
func (w *Variant) AssumeOff(id cluster.NodeID) {
	w.supply.Off[id] = true
	delete(w.supply.Least, id)
}

// Dispensable returns how many of some empty nodes, from the first, should go off so that the
// most vjobs run with the power that they release.
func (w *Variant) Dispensable(empty []cluster.Node) int {
	return argmax(len(empty), func(n int) int { return w.runsWithout(empty, n) })
}

// runsWithout returns how many vjobs would run with the first of some nodes off.
func (w *Variant) runsWithout(empty []cluster.Node, off int) int {
	was := w.supply.Off
	w.supply.Off = maps.Clone(was)
	defer func() { w.supply.Off = was }()
	for _, n := range empty[:off] {
		w.supply.Off[n.ID] = true
	}
	online := make([]cluster.Node, len(empty))
	for i := range empty {
		online[len(empty)-1-i] = empty[i]
	}
	return w.runs(online, len(empty)-off)
}
