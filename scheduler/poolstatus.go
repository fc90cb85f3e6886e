package scheduler

import (
	"slices"
	"time"

	"vjob/cluster"
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
	Stated bool // through the API, not in the settings
	// What is in it is counted by [Snapshot.Counted].
	Used  cluster.Resources // by the VMs in it and in the pools below it
	Own   int               // live vjobs in it, without those in the pools below it
	VJobs int               // live vjobs in it and in the pools below it
}

// status returns the status for snapshots, with the division of the last decision; nil if it divided nothing.
func (p *Pools) status(division *entitlement.Division) PoolsStatus {
	h := p.hierarchy()
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
	return s
}

// Counted returns the pools with what is in them now: it reads the status of all vjobs.
func (s *Snapshot) Counted() []PoolStatus {
	list, at := slices.Clone(s.Pools.Pools), map[string]int{}
	for i := range list {
		at[poolKey(i, list[i].Name)] = i
	}
	for _, v := range s.VJobs.All() {
		at := at[v.Pool]
		list[at].Own++
		for i := at; i >= 0; i = list[i].Parent {
			list[i].VJobs++
			list[i].Used = list[i].Used.Plus(v.Used)
		}
	}
	return list
}

// poolKey returns the name by which a hierarchy knows its first member and others.
func poolKey(i int, name string) string {
	if i == 0 {
		return ""
	}
	return name
}
