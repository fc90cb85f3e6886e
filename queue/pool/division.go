package pool

import "vjob/cluster"

// Entitlement is what a member demands, within its settings, and what it should get now.
type Entitlement struct{ Demand, Given cluster.Resources }

// Divide divides the capacity of the cluster, given the demands of the VMs, and returns what each member
// gets. After a change of few demands only the pools that it reaches are divided again.
func (h *Hierarchy) Divide(demand func(vm int) cluster.Resources) []Entitlement {
	root := &h.members[0].Settings
	return h.DivideOf(cluster.Resources{CPU: cluster.MilliCPU(root.CPU.Limit), Memory: cluster.MiB(root.Memory.Limit)}, demand)
}

// DivideOf divides another capacity than that of the cluster, as when some of its nodes are off. If it is less
// than the reservations, each member gets less than it has reserved, in proportion.
func (h *Hierarchy) DivideOf(capacity cluster.Resources, demand func(vm int) cluster.Resources) []Entitlement {
	if h.trees == nil {
		for k := range resources {
			t := h.tree(&resources[k])
			t.DemandFirst = h.DemandFirst
			h.trees = append(h.trees, t)
		}
	}
	list := make([]Entitlement, len(h.members))
	for i := range h.members {
		if !h.members[i].VM {
			continue
		}
		wanted := demand(i)
		for k, r := range resources {
			h.trees[k].SetDemand(i, *r.amount(&wanted))
		}
	}
	for k, r := range resources {
		t := h.trees[k]
		t.Divide(*r.amount(&capacity))
		for i := range list {
			*r.amount(&list[i].Demand), *r.amount(&list[i].Given) = t.Demand(i), t.Entitlement(i)
		}
	}
	return list
}

// CPULimits returns the most CPU that each member may use by the limits alone, whatever others demand;
// [Unlimited] if no limit concerns it. A limit of a pool is divided by demand first, so that it leaves
// nothing unused that a VM in it wants. The CPU of each VM is at most what it demands and what is left.
func (h *Hierarchy) CPULimits(demand func(vm int) cluster.MilliCPU) []int64 {
	t := h.tree(&resources[0])
	t.DemandFirst, t.entries[0].Limit = true, Unlimited
	for i := range h.members {
		if h.members[i].VM {
			t.SetDemand(i, int64(demand(i)))
		}
	}
	t.Divide(Unlimited)
	return t.entitlement
}

// tree makes the tree of a resource. A reservation that VMs put above a limit counts up to the limit.
func (h *Hierarchy) tree(r *resource) *Tree {
	entries := make([]Entry, len(h.members))
	for i := range h.members {
		m := &h.members[i]
		c := *r.of(&m.Settings)
		c.Reservation = min(*r.amount(&m.Reserved), c.Limit)
		entries[i] = Entry{Parent: m.Parent, VM: m.VM, Controls: c}
	}
	t, err := New(entries)
	if err != nil {
		panic(err) // members were checked
	}
	return t
}
