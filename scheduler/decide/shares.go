package decide

import (
	"cmp"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/energy/cpushare"
	"vjob/hypervisor"
	"vjob/queue"
)

// shareProblem is the problem of package cpushare for a view, with nodes and vjobs by index.
type shareProblem struct {
	cpushare.Problem
	limits []budget.Limit
	jobs   []int // index of the report of each of Problem.Jobs
	nodes  map[cluster.NodeID]int
}

// averageNode stands for the node of a VM without a place: its power for each CPU is the mean of
// the nodes that take VMs.
func averageNode(nodes []cluster.Node, known map[cluster.NodeID]energy.Power) cpushare.Node {
	n := cpushare.Node{}
	for i := range nodes {
		if p, ok := known[nodes[i].ID]; ok && nodes[i].Hosts() {
			n.CPU += float64(nodes[i].Capacity.CPU)
			n.Power.Full += p.Full - p.Idle
		}
	}
	return n
}

// newShareProblem states the problem for the vjobs that run by the verdicts, placed as in the
// configuration.
func (p *View) newShareProblem(at *cluster.Configuration, verdicts []queue.Verdict, limits []budget.Limit) *shareProblem {
	q := p.emptyShareProblem(at, limits)
	for _, i := range p.powerOrder(verdicts) {
		q.jobs = append(q.jobs, i)
		q.Jobs = append(q.Jobs, q.job(p, &p.VJobs[i], at))
	}
	return q
}

// emptyShareProblem states the problem without vjobs.
func (p *View) emptyShareProblem(at *cluster.Configuration, limits []budget.Limit) *shareProblem {
	q := &shareProblem{limits: limits, nodes: map[cluster.NodeID]int{}}
	q.MaxYield, q.Lambda = p.settings.Energy.Yield, p.settings.Energy.Lambda
	if q.MaxYield <= 0 {
		q.MaxYield = 1
	}
	if q.Lambda <= 0 {
		q.Lambda = 1
	}
	nodes := at.Nodes()
	q.Limits = make([]cpushare.Limit, len(limits))
	for _, n := range nodes {
		power, known := p.settings.Energy.Power[n.ID]
		if !known {
			continue
		}
		q.nodes[n.ID] = len(q.Nodes)
		for i, l := range limits {
			if l.Group.Has(n.Labels) {
				q.Limits[i].Nodes = append(q.Limits[i].Nodes, len(q.Nodes))
			}
		}
		q.Nodes = append(q.Nodes, p.shareNode(&n, power))
	}
	for i, l := range limits {
		q.Limits[i].Watts = l.Watts
		if l.Group == (budget.Group{}) {
			q.Limits[i].Nodes = append(q.Limits[i].Nodes, len(q.Nodes))
		}
	}
	q.Nodes = append(q.Nodes, averageNode(nodes, p.settings.Energy.Power))
	return q
}

// shareNode returns a node with its power model.
func (p *View) shareNode(n *cluster.Node, power energy.Power) cpushare.Node {
	return cpushare.Node{Power: power, CPU: float64(n.Capacity.CPU), Off: p.off[n.ID], MinDraw: p.least[n.ID]}
}

// powerOrder lists the vjobs that should run in the order in which they get power, which is that
// of capacity: first reservations (checked when they were confirmed), then vjobs
// that are never preempted, then the others in queue order, and best-effort vjobs last. Where the
// policy never suspends, starting vjobs come after running ones.
func (p *View) powerOrder(verdicts []queue.Verdict) (list []int) {
	for i := range p.VJobs {
		if verdicts[i].Target == queue.Run {
			list = append(list, i)
		}
	}
	suspends := p.settings.Policy.Traits().Preempts
	slices.SortStableFunc(list, func(a, b int) int {
		return cmp.Compare(powerClass(&p.VJobs[a], suspends), powerClass(&p.VJobs[b], suspends))
	})
	return list
}

// powerClass returns the class of a vjob in the power order.
func powerClass(r *execute.Report, suspends bool) int {
	switch starts := r.Idle && r.Job.State.Ready(); {
	case !r.Job.Reservation.IsZero():
		return 0
	case r.Job.Preemption == cluster.Never && !r.Job.BestEffort && !starts:
		return 1
	case !r.Job.BestEffort && (suspends || !starts):
		return 2
	case !r.Job.BestEffort:
		return 3
	case !starts:
		return 4
	default:
		return 5
	}
}

// job returns the power terms of one vjob.
func (q *shareProblem) job(p *View, r *execute.Report, at *cluster.Configuration) cpushare.Job {
	j := cpushare.Job{Floor: minShare(r.Job), Fixed: !r.Idle || r.Blind || p.quarantined[r.Job.ID] != ""}
	for rank := range r.Job.VMs {
		if rank < len(r.Record.Members) && r.Record.Members[rank].Ended {
			continue
		}
		vm := &r.Job.VMs[rank]
		place := len(q.Nodes) - 1
		host, runs := at.Host(vm.ID)
		if n, known := q.nodes[host]; runs && known {
			place = n
		} else if runs {
			continue // the node has no power model
		}
		j.VMs = append(j.VMs, cpushare.VM{Node: place, CPU: float64(max(vm.Reserved.CPU, hypervisor.MinCap))})
	}
	return j
}

// minShare returns the least fraction of its CPU that a vjob accepts, at least the smallest cap
// that a hypervisor can set.
func minShare(job *cluster.VJob) float64 {
	floor := job.MinShare
	if floor <= 0 {
		return 1
	}
	for i := range job.VMs {
		if cpu := job.VMs[i].Reserved.CPU; cpu > 0 {
			floor = max(floor, min(1, float64(hypervisor.MinCap)/float64(cpu)))
		}
	}
	return min(floor, 1)
}

// sharesCPU reports whether CPU shares are computed for the view.
func (p *View) sharesCPU() bool {
	return len(p.settings.Energy.Power) > 0 && (len(p.Limits) > 0 || p.settings.Energy.SharesCPU())
}

// cpuCaps returns the caps of vjobs after the verdicts: the shares of running vjobs, and next to
// nothing for throttled ones, so that budgets hold before these have stopped.
func (p *View) cpuCaps(verdicts []queue.Verdict, target *cluster.Configuration) map[cluster.VJobID][]cluster.MilliCPU {
	caps := map[cluster.VJobID][]cluster.MilliCPU{}
	if !p.sharesCPU() {
		return caps
	}
	verdicts = slices.Clone(verdicts)
	for i := range verdicts {
		if r := &p.VJobs[i]; p.throttled[r.Job.ID] {
			caps[r.Job.ID] = slices.Repeat([]cluster.MilliCPU{hypervisor.MinCap}, len(r.Job.VMs))
			verdicts[i].Target = queue.Suspend // also if it cannot be saved yet
		}
	}
	if target == nil {
		target = p.current
	}
	q := p.newShareProblem(target, verdicts, p.Limits)
	runs := make([]bool, len(q.Jobs))
	for k := range runs {
		runs[k] = true
	}
	for k, yield := range q.Share(runs) {
		job := p.VJobs[q.jobs[k]].Job
		list := make([]cluster.MilliCPU, len(job.VMs))
		for rank := range list {
			list[rank] = max(cluster.MilliCPU(yield*float64(job.VMs[rank].Reserved.CPU)+1e-6), hypervisor.MinCap)
		}
		caps[job.ID] = list
	}
	return caps
}
