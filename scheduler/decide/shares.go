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

// shareProblem is the question of a picture to package cpushare: nodes and vjobs by their
// places there.
type shareProblem struct {
	cpushare.Problem
	limits []budget.Limit
	jobs   []int // the reports of the picture, in the order of Problem.Jobs
	nodes  map[cluster.NodeID]int
}

// averageNode stands for the nodes of a VM that has none yet: one with the mean power for
// each processor of those that take VMs.
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

// newShareProblem states who would run as the verdicts are, where the configuration has them.
func (p *View) newShareProblem(at *cluster.Configuration, verdicts []queue.Verdict, limits []budget.Limit) *shareProblem {
	q := p.emptyShareProblem(at, limits)
	for _, i := range p.powerOrder(verdicts) {
		q.jobs = append(q.jobs, i)
		q.Jobs = append(q.Jobs, q.job(p, &p.VJobs[i], at))
	}
	return q
}

// emptyShareProblem is the question before any vjob is in it.
func (p *View) emptyShareProblem(at *cluster.Configuration, limits []budget.Limit) *shareProblem {
	q := &shareProblem{limits: limits, nodes: map[cluster.NodeID]int{}}
	q.Most, q.Lambda = p.settings.Energy.Yield, p.settings.Energy.Lambda
	if q.Most <= 0 {
		q.Most = 1
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

// shareNode is a node as those see it who count what it draws.
func (p *View) shareNode(n *cluster.Node, power energy.Power) cpushare.Node {
	return cpushare.Node{Power: power, CPU: float64(n.Capacity.CPU), Off: p.off[n.ID], Least: p.least[n.ID]}
}

// powerOrder lists those that are to run in the order in which they have their power, which
// is that in which they have their room: those with reservations first, since their power was
// looked at when they were confirmed, then those that never make room, then the others in the
// order of the queue, and best-effort ones last. Where the policy never suspends, those that
// are to start come after those that run.
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

// powerClass is a place in the order in which vjobs have their power.
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

// job is one vjob, as far as its power goes.
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
			continue // nobody knows what is drawn there
		}
		j.VMs = append(j.VMs, cpushare.VM{Node: place, CPU: float64(max(vm.Reserved.CPU, hypervisor.MinCap))})
	}
	return j
}

// minShare is the least yield of a vjob: what its owner is content with, and no less than
// what can be told from nothing.
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

// sharesCPU reports whether shares of CPU are dealt out on a picture.
func (p *View) sharesCPU() bool {
	return len(p.settings.Energy.Power) > 0 && (len(p.Limits) > 0 || p.settings.Energy.SharesCPU())
}

// cpuCaps are the caps of vjobs once the verdicts are carried out: the shares of those that
// run, and next to nothing for those that leave their power to others, so that budgets are
// kept before they have stopped.
func (p *View) cpuCaps(verdicts []queue.Verdict, target *cluster.Configuration) map[cluster.VJobID][]cluster.MilliCPU {
	caps := map[cluster.VJobID][]cluster.MilliCPU{}
	if !p.sharesCPU() {
		return caps
	}
	verdicts = slices.Clone(verdicts)
	for i := range verdicts {
		if r := &p.VJobs[i]; p.throttled[r.Job.ID] {
			caps[r.Job.ID] = slices.Repeat([]cluster.MilliCPU{hypervisor.MinCap}, len(r.Job.VMs))
			verdicts[i].Target = queue.Suspend // also where it cannot be saved yet
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
