package decide

import (
	"cmp"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/energy/budget"
	"vjob/energy/cpushare"
	"vjob/hypervisor"
	"vjob/queue"
	"vjob/scheduler/supply"
)

// shareProblem is the problem of package cpushare for a view, with nodes and vjobs by index.
type shareProblem struct {
	cpushare.Problem
	limits []budget.Limit
	jobs   []int // index of the report of each of Problem.Jobs
	nodes  map[cluster.NodeID]int
}

// newShareProblem states the problem for the vjobs that run by the verdicts, placed as in the
// configuration.
func newShareProblem(v *View, at *cluster.Configuration, verdicts []queue.Verdict, limits []budget.Limit) *shareProblem {
	q := emptyShareProblem(v, at, limits)
	for _, i := range powerOrder(v, verdicts) {
		q.jobs = append(q.jobs, i)
		q.Jobs = append(q.Jobs, q.job(v, &v.VJobs[i], at))
	}
	return q
}

// emptyShareProblem states the problem without vjobs.
func emptyShareProblem(v *View, at *cluster.Configuration, limits []budget.Limit) *shareProblem {
	q := &shareProblem{limits: limits, nodes: map[cluster.NodeID]int{}}
	q.MaxYield, q.Lambda = v.settings.Energy.Yield, v.settings.Energy.Lambda
	if q.MaxYield <= 0 {
		q.MaxYield = 1
	}
	if q.Lambda <= 0 {
		q.Lambda = 1
	}
	nodes := at.Nodes()
	q.Limits = make([]cpushare.Limit, len(limits))
	for _, n := range nodes {
		power, known := v.supply.Models[n.ID]
		if !known {
			continue
		}
		q.nodes[n.ID] = len(q.Nodes)
		for i, l := range limits {
			if l.Group.Has(n.Labels) {
				q.Limits[i].Nodes = append(q.Limits[i].Nodes, len(q.Nodes))
			}
		}
		q.Nodes = append(q.Nodes, v.supply.Node(&n, power))
	}
	for i, l := range limits {
		q.Limits[i].Watts = l.Watts
		if l.Group == (budget.Group{}) {
			q.Limits[i].Nodes = append(q.Limits[i].Nodes, len(q.Nodes))
		}
	}
	q.Nodes = append(q.Nodes, v.supply.Average(nodes))
	return q
}

// powerOrder lists the vjobs that should run in the order in which they get power, which is that
// of capacity: first reservations (checked when they were confirmed), then vjobs
// that are never preempted, then the others in queue order, and best-effort vjobs last. Where the
// policy never suspends, starting vjobs come after running ones.
func powerOrder(v *View, verdicts []queue.Verdict) (list []int) {
	for i := range v.VJobs {
		if verdicts[i].Target == queue.Run {
			list = append(list, i)
		}
	}
	suspends := v.settings.Policy.Traits().Preempts
	slices.SortStableFunc(list, func(a, b int) int {
		return cmp.Compare(powerClass(&v.VJobs[a], suspends), powerClass(&v.VJobs[b], suspends))
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
func (q *shareProblem) job(v *View, r *execute.Report, at *cluster.Configuration) cpushare.Job {
	j := cpushare.Job{Floor: supply.MinShare(r.Job), Fixed: r.Busy() || v.quarantined[r.Job.ID] != ""}
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

// sharesCPU reports whether CPU shares are computed for the view.
func (v *View) sharesCPU() bool {
	return v.supply.Known() && (len(v.Limits.Now) > 0 || v.settings.Energy.SharesCPU())
}
