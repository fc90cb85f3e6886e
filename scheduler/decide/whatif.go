package decide

import (
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/placement"
	"vjob/energy"
	"vjob/energy/budget"
)

// Changes to a view that answer what-if questions.

// Detach gives the view its own copies of records and past use, so that a decision on it can run
// beside the loop.
func (p *View) Detach() *View {
	p.past = p.past.Clone()
	for i := range p.VJobs {
		record := *p.VJobs[i].Record
		p.VJobs[i].Record = &record
	}
	for i := range p.inside {
		p.inside[i].Detach()
	}
	return p
}

// Nodes returns the nodes of the view, in order.
func (p *View) Nodes() []cluster.Node { return p.current.Nodes() }

// SetNodeState sets the state of a node. It fails with ErrNotFound.
func (p *View) SetNodeState(id cluster.NodeID, state cluster.NodeState) error {
	n, known := p.current.Node(id)
	if !known {
		return fmt.Errorf("node %s: %w", id, cluster.ErrNotFound)
	}
	n.State = state
	p.setNode(n)
	for i := range p.inside {
		_ = p.inside[i].SetNodeState(id, state) // the container may have nothing there
	}
	return nil
}

func (p *View) setNode(n cluster.Node) {
	p.current.SetNode(n)
	p.intended.SetNode(n)
}

// ReplaceRules replaces a text of cluster rules; "" removes it.
func (p *View) ReplaceRules(old, rules string) {
	p.rules = slices.DeleteFunc(p.rules, func(r placement.Rules) bool { return r.VJob == 0 && r.Text == old })
	if rules != "" {
		p.rules = append(p.rules, placement.Rules{Text: rules})
	}
}

// SetClusterBudget replaces the budgets of the whole cluster.
func (p *View) SetClusterBudget(most energy.Watts) {
	p.Limits = slices.DeleteFunc(slices.Clone(p.Limits), func(l budget.Limit) bool { return l.Group == budget.Group{} })
	p.Limits = append(p.Limits, budget.Limit{Watts: most})
}

// Remove takes a vjob and its resources out of the view. It fails with ErrNotFound.
func (p *View) Remove(id cluster.VJobID) error {
	i := slices.IndexFunc(p.VJobs, func(r execute.Report) bool { return r.Job.ID == id })
	for k := range p.inside {
		if i < 0 && p.inside[k].Remove(id) == nil {
			return nil
		}
	}
	if i < 0 {
		return fmt.Errorf("vjob %s: %w", id, cluster.ErrNotFound)
	}
	for _, vm := range p.VJobs[i].Job.VMs {
		p.current.Remove(vm.ID)
		p.intended.Remove(vm.ID)
	}
	p.rules = slices.DeleteFunc(p.rules, func(r placement.Rules) bool { return r.VJob == id })
	p.applicants = slices.DeleteFunc(p.applicants, func(a ctxswitch.Applicant) bool { return a.VJob == id })
	p.VJobs = slices.Delete(p.VJobs, i, i+1)
	p.inside = slices.DeleteFunc(p.inside, func(q containerView) bool { return q.container.ID == id })
	return nil
}

// Add inserts a vjob that was not submitted at an index; a vjob of a container goes to the end of
// the view of its container.
func (p *View) Add(job *cluster.VJob, at int) {
	for i := range p.inside {
		if q := &p.inside[i]; q.container.ID == job.Inner {
			q.Add(job, len(q.VJobs))
			return
		}
	}
	a := newApplicant(job, func(vm cluster.VMID) cluster.Resources { return p.settings.Needs(job, vm.Rank, 0, false) })
	a.Rules = job.Rules
	p.VJobs = slices.Insert(p.VJobs, at, execute.Report{
		Job: job, Idle: true, Bound: cluster.VMWaiting, Record: &gang.Record{VJob: job.ID},
	})
	place := 0 // after the applicants before it
	for i, k := range p.eachVJob {
		if i < at && k >= 0 {
			place = k + 1
		}
	}
	p.applicants = slices.Insert(p.applicants, place, a)
}
