package scheduler

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/queue/pool"
	"vjob/scheduler/entitlement"
)

// PoolsStatus is the pools as of the last decision.
type PoolsStatus struct {
	Hierarchy *pool.Hierarchy // the pools without VMs, on the capacity of all nodes; it does not change
	Divided   bool            // the cluster is divided: the pools have demands and entitlements
	StatedBy  string          // user of the last change through the API; "" before the first
	StatedAt  time.Time
	Capacity  cluster.Resources // that was divided: of the nodes that are on and answer
	Reserved  cluster.Resources // of it, by the pools and by what runs
	Pools     []PoolStatus      // the cluster, then each pool after its parent
}

// PoolStatus is the cluster or a pool.
type PoolStatus struct {
	entitlement.Pool
	Stated bool              // through the API, not in the settings
	Used   cluster.Resources // by the VMs in it and in the pools below it
	Own    int               // live vjobs in it, without those in the pools below it
	VJobs  int               // live vjobs in it and in the pools below it
}

// status returns the status for snapshots, with the division of the last decision; nil if it divided nothing.
func (p *Pools) status(nodes []execute.NodeReport, vjobs []execute.Report, division *entitlement.Division) PoolsStatus {
	h := p.on(nodes)
	s := PoolsStatus{Hierarchy: h, Divided: division != nil, StatedBy: p.stated.By, StatedAt: p.stated.At, Pools: make([]PoolStatus, len(h.Members()))}
	for i, m := range h.Members() {
		s.Pools[i] = PoolStatus{Pool: entitlement.Pool{Member: m}, Stated: p.find(m.Name) >= 0}
	}
	if d := division; d != nil {
		s.Capacity, s.Reserved = d.Capacity, d.Pools[0].Reserved
		for i := range d.Pools { // the pools of the decision: meanwhile some may have been deleted
			if at, exists := h.Pool(poolKey(i, d.Pools[i].Name)); exists {
				s.Pools[at].Entitlement, s.Pools[at].VMs, s.Pools[at].Reserved = d.Pools[i].Entitlement, d.Pools[i].VMs, d.Pools[i].Reserved
			}
		}
	}
	for i := range vjobs {
		job := vjobs[i].Job
		at, _ := h.Pool(p.in(job, h))
		s.Pools[at].Own++
		used := p.used(&vjobs[i])
		for i := at; i >= 0; i = s.Pools[i].Parent {
			s.Pools[i].VJobs++
			s.Pools[i].Used = s.Pools[i].Used.Plus(used)
		}
	}
	return s
}

// poolKey returns the name by which a hierarchy knows its first member and others.
func poolKey(i int, name string) string {
	if i == 0 {
		return ""
	}
	return name
}

// used returns what the VMs of a vjob use on their nodes. Those of a container use nothing: its inner vjobs do.
func (p *Pools) used(r *execute.Report) (sum cluster.Resources) {
	if state := r.Job.State; r.Job.Container || state == cluster.Waiting || state == cluster.Suspended {
		return sum
	}
	for rank := range r.Job.VMs {
		if vm := r.Job.VMs[rank]; p.exec.VMs.OnNode(vm.ID) {
			sum = sum.Plus(cluster.Resources{CPU: p.exec.VMs.Use(vm.ID), Memory: vm.Reserved.Memory})
		}
	}
	return sum
}
