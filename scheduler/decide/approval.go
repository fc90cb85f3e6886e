package decide

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
)

// Approvals are the changes that begin only once they are approved. The zero value needs no approval.
type Approvals struct {
	// Starts are the vjobs that may start, each with the nodes of its VMs; nil lets all start anywhere.
	Starts map[cluster.VJobID][]cluster.Move
	// Drains are the nodes that VMs may leave because they are drained; nil lets them leave all.
	Drains map[cluster.NodeID]bool
	// Pending names the recommendation for which a vjob waits, as text.
	Pending map[cluster.VJobID]string
}

// barUnapproved makes vjobs wait that have never run, until their start is approved.
func (e *eligibility) barUnapproved() {
	allowed := e.facts.Approvals
	if allowed.Starts == nil {
		return
	}
	for i := range e.VJobs {
		job := e.VJobs[i].Job
		if !waitsToBegin(&e.VJobs[i]) || allowed.Starts[job.ID] != nil {
			continue
		}
		reason := "its start has to be approved"
		if pending := allowed.Pending[job.ID]; pending != "" {
			reason += ": " + pending
		}
		e.bar(job.ID, Bar{Reason: reason})
	}
}

// places returns the nodes to which approved starts take the VMs.
func (f *Facts) places() map[cluster.VMID]cluster.NodeID {
	if len(f.Approvals.Starts) == 0 {
		return nil
	}
	to := map[cluster.VMID]cluster.NodeID{}
	for _, moves := range f.Approvals.Starts {
		for _, m := range moves {
			to[m.VM] = m.To
		}
	}
	return to
}

// mayDrain reports whether VMs may leave a drained node.
func (f *Facts) mayDrain(id cluster.NodeID) bool {
	return f.Approvals.Drains == nil || f.Approvals.Drains[id]
}

// pinned returns the VMs that a plan must not touch: those of the layout, and those that stay on a drained
// node until it is approved that they leave.
func (a *attempt) pinned(stays func(cluster.VJobID) bool) map[cluster.VMID]bool {
	if a.facts.Approvals.Drains == nil {
		return a.trial.pinned
	}
	list := maps.Clone(a.trial.pinned)
	for _, n := range a.trial.current.Nodes() {
		if n.State != cluster.Draining || a.facts.mayDrain(n.ID) {
			continue
		}
		for _, vm := range a.trial.current.On(n.ID) {
			if stays(vm.VJob) {
				list[vm] = true
			}
		}
	}
	return list
}

// Start is what a decision does to start a vjob.
type Start struct {
	Job    *cluster.VJob
	Moves  []cluster.Move   // of its VMs to their nodes
	Before []cluster.Move   // of other VMs, by the same plan, that make room for it
	Leave  []cluster.VJobID // that are suspended or stopped by the same plan to make room for it
	Reason string
}

// Starts returns the starts of waiting vjobs that have never run, in queue order.
func (d *Decision) Starts() (list []Start) {
	moves := d.boots()
	for i := range d.VJobs {
		r := &d.VJobs[i]
		if own := moves[r.Job.ID]; waitsToBegin(r) && d.Verdicts[i].Target == queue.Run && len(own) > 0 {
			before, leave := d.Plan.Before(func(a *ctxswitch.Action) bool { return a.VM.VJob == r.Job.ID })
			list = append(list, Start{r.Job, own, before, leave, d.Verdicts[i].Because()})
		}
	}
	return list
}

// Evacuation is what a decision does to empty a drained node.
type Evacuation struct {
	Node   cluster.NodeID
	Moves  []cluster.Move
	Takes  time.Duration // until the last VM has left, as estimated
	Reason string
}

// Evacuations returns what the plan moves off drained nodes.
func (d *Decision) Evacuations() (list []Evacuation) {
	for id := range d.final.layout.drained {
		e := Evacuation{Node: id}
		suspended := map[cluster.VJobID]bool{}
		for _, act := range d.Plan.Actions {
			switch {
			case act.From != id:
				continue
			case act.Kind == cluster.Migrate:
				e.Moves = append(e.Moves, cluster.Move{VM: act.VM, From: id, To: act.To})
			case act.Kind == cluster.Suspend:
				suspended[act.VM.VJob] = true
			}
			e.Takes = max(e.Takes, act.End)
		}
		if len(e.Moves) == 0 && len(suspended) == 0 {
			continue
		}
		e.Reason = fmt.Sprintf("node %s is drained", id)
		if n := len(suspended); n > 0 {
			e.Reason += fmt.Sprintf("; vjobs to suspend: %d", n)
		}
		slices.SortFunc(e.Moves, func(x, y cluster.Move) int { return x.VM.Compare(y.VM) })
		list = append(list, e)
	}
	slices.SortFunc(list, func(x, y Evacuation) int {
		if x.Node < y.Node {
			return -1
		}
		return 1
	})
	return list
}

// boots returns where the plan boots the VMs of each vjob.
func (d *Decision) boots() map[cluster.VJobID][]cluster.Move {
	boots := map[cluster.VJobID][]cluster.Move{}
	for _, act := range d.Plan.Actions {
		if act.Kind == cluster.Boot {
			boots[act.VM.VJob] = append(boots[act.VM.VJob], cluster.Move{VM: act.VM, To: act.To})
		}
	}
	for _, list := range boots {
		slices.SortFunc(list, func(x, y cluster.Move) int { return x.VM.Compare(y.VM) })
	}
	return boots
}
