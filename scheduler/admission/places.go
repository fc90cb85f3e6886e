package admission

import (
	"cmp"
	"maps"
	"math"
	"slices"

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
	var has cluster.Resources
	wants := cluster.Reserved(s.VMs)
	for i := 0; i < len(nodes) && !wants.Fits(has); i++ {
		has = has.Plus(nodes[i].Capacity)
	}
	if !wants.Fits(has) {
		return cluster.Fault("vms", "%s requested, the cluster has %s", wants, has)
	}
	if lost == 0 || s.Claims() {
		return s.findsPlaces(nodes)
	}
	if left := spare(nodes, lost); !wants.Fits(left) {
		return cluster.Fault("vms", "%s requested, the cluster has %s beside what it keeps for %s (policy.failover)", wants, left, failover.Of(lost))
	}
	return s.findsPlaces(nodes)
}

// spare returns what an empty cluster has beside what is kept for the loss of nodes; it may be negative.
func spare(nodes []cluster.Node, lost int) cluster.Resources {
	empty := make([]failover.Node, len(nodes))
	for i := range nodes {
		empty[i] = failover.Node{ID: nodes[i].ID, Free: nodes[i].Capacity}
	}
	return failover.Check(empty, lost).Spare
}

// findsPlaces tries the vjob on the empty cluster with every node online: a vjob without places
// there would wait for ever, and with FCFS all vjobs behind it.
func (s *Submission) findsPlaces(nodes []cluster.Node) error {
	why := hopeless(s.VMs, s.Rules, nodes)
	switch {
	case why == "":
		return nil
	case s.Rules != "":
		return cluster.Fault("rules", "with %.80q not all VMs find places on the empty cluster of %s: %s", s.Rules, cluster.Count(len(nodes), "node"), why)
	default:
		return cluster.Fault("vms", "no places for %s on the empty cluster of %s: %s", cluster.Count(len(s.VMs), "VM"), cluster.Count(len(nodes), "node"), why)
	}
}

// hopeless returns why the VMs of a vjob have no places on empty nodes; "" if they have. The planner is asked only if
// there are rules, or the VMs do not fill the nodes one after the other.
func hopeless(vms []cluster.VM, rules string, nodes []cluster.Node) string {
	if rules == "" && fill(vms, nodes) {
		return ""
	}
	return planned(vms, rules, nodes)
}

// fill reports whether all VMs find places when each node takes as many as it can of each size, the largest first. It
// touches only as many nodes as that needs. VMs may have places even if it reports false.
func fill(vms []cluster.VM, nodes []cluster.Node) bool {
	count := map[cluster.Resources]int{}
	for i := range vms {
		count[vms[i].Reserved]++
	}
	sizes := slices.SortedFunc(maps.Keys(count), func(a, b cluster.Resources) int {
		return cmp.Or(cmp.Compare(b.Memory, a.Memory), cmp.Compare(b.CPU, a.CPU))
	})
	left := len(vms)
	for i := 0; left > 0 && i < len(nodes); i++ {
		free := nodes[i].Capacity
		for _, size := range sizes {
			n := min(times(size, free), count[size])
			count[size] -= n
			left -= n
			free.CPU -= cluster.MilliCPU(n) * size.CPU
			free.Memory -= cluster.MiB(n) * size.Memory
		}
		sizes = slices.DeleteFunc(sizes, func(size cluster.Resources) bool { return count[size] == 0 })
	}
	return left == 0
}

// times is how often a size fits into what is free.
func times(size, free cluster.Resources) int {
	n := math.MaxInt32
	if size.CPU > 0 {
		n = min(n, int(free.CPU/size.CPU))
	}
	if size.Memory > 0 {
		n = min(n, int(free.Memory/size.Memory))
	}
	return max(0, n)
}

// planned is what the planner says.
func planned(vms []cluster.VM, rules string, nodes []cluster.Node) string {
	const id = 1 // any
	empty := cluster.NewConfiguration(cluster.AllOnline(nodes)...)
	for rank := range vms {
		empty.SetWaiting(cluster.VMID{VJob: id, Rank: rank}, vms[rank].Reserved)
	}
	p := ctxswitch.Problem{Current: empty, Gangs: []ctxswitch.Goal{{VJob: id, Want: cluster.VMRunning}}}
	if rules != "" {
		p.Rules = []placement.Rules{{VJob: id, Text: rules}}
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
