package admission

import (
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/placement"
	"vjob/scheduler/failover"
)

// fitsCluster rejects what could not run even on the empty cluster.
func (s *Submission) fitsCluster(nodes []cluster.Node, lost int) error {
	if len(nodes) == 0 {
		return nil
	}
	var has, wants cluster.Resources
	for _, n := range nodes {
		has = has.Plus(n.Capacity)
	}
	for _, vm := range s.VMs {
		wants = wants.Plus(vm.Reserved)
	}
	if !wants.Fits(has) {
		return cluster.Fault("vms", "%s requested, the cluster has %s", wants, has)
	}
	if left := spare(nodes, lost); !s.Claims() && !wants.Fits(left) {
		return cluster.Fault("vms", "%s requested, the cluster has %s beside what it keeps for %s (policy.failover)", wants, left, failover.Of(lost))
	}
	return s.findsPlaces(nodes)
}

// spare returns what an empty cluster has beside what is kept for the loss of nodes; it may be negative.
func spare(nodes []cluster.Node, lost int) (left cluster.Resources) {
	empty := make([]failover.Node, len(nodes))
	for i := range nodes {
		left = left.Plus(nodes[i].Capacity)
		empty[i] = failover.Node{ID: nodes[i].ID, Free: nodes[i].Capacity}
	}
	if lost == 0 {
		return left
	}
	report := failover.Check(empty, lost)
	return report.Spare
}

// findsPlaces tries the vjob on the empty cluster with every node online: a vjob without places
// there would wait for ever, and with FCFS all vjobs behind it.
func (s *Submission) findsPlaces(nodes []cluster.Node) error {
	why := hopeless(s.VJob(1), s.Rules, nodes)
	switch {
	case why == "":
		return nil
	case s.Rules != "":
		return cluster.Fault("rules", "with %.80q not all VMs find places on the empty cluster of %d nodes: %s", s.Rules, len(nodes), why)
	default:
		return cluster.Fault("vms", "%d VMs do not fit on the empty cluster of %d nodes: %s", len(s.VMs), len(nodes), why)
	}
}

// hopeless returns why a vjob has no places on empty nodes; "" if it has.
func hopeless(job *cluster.VJob, rules string, nodes []cluster.Node) string {
	empty := cluster.NewConfiguration()
	for _, n := range nodes {
		n.State = cluster.Online
		empty.SetNode(n)
	}
	for _, vm := range job.VMs {
		empty.SetWaiting(vm.ID, vm.Reserved)
	}
	p := ctxswitch.Problem{Current: empty, Gangs: []ctxswitch.Goal{{VJob: job.ID, Want: cluster.VMRunning}}}
	if rules != "" {
		p.Rules = []placement.Rules{{VJob: job.ID, Text: rules}}
	}
	return ctxswitch.Infeasible(p)
}

func largest(nodes []cluster.Node) cluster.Resources {
	var top cluster.Resources
	for _, n := range nodes {
		if n.Capacity.Memory > top.Memory {
			top = n.Capacity
		}
	}
	return top
}
