package execute

import (
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/energy"
	"vjob/hypervisor"
)

// VMs tells what single members of vjobs need, demand and use, and where they are and go.
type VMs struct {
	gangs    *gangs
	nodes    *nodes
	capacity *capacity
}

// Need is what a member of a vjob counts for now by the policy, also if its demand is limited.
func (vs *VMs) Need(vm cluster.VMID) cluster.Resources {
	p, ok := vs.gangs.of(vm)
	if !ok {
		return cluster.Resources{}
	}
	return vs.capacity.wanted(p, vm.Rank)
}

// Booking is what is booked for a VM: see the methods of [VMs] of these names.
type Booking struct {
	Need        cluster.Resources
	Cap, Demand cluster.MilliCPU
}

// Booked returns what is booked for the VMs of a live vjob, by rank. It is faster than to ask for each.
func (vs *VMs) Booked(id cluster.VJobID) []Booking {
	p := vs.gangs.live[id]
	list := make([]Booking, len(p.job.VMs))
	for rank := range list {
		list[rank] = Booking{Need: vs.capacity.wanted(p, rank), Demand: demand(p, rank)}
		if !p.untouched() {
			list[rank].Cap = vs.capacity.cap(p, rank)
		}
	}
	return list
}

// LimitDemand sets the CPU for which the VMs of some vjobs count at most, by rank. It replaces earlier limits.
func (vs *VMs) LimitDemand(most map[cluster.VJobID][]cluster.MilliCPU) {
	for _, limits := range []map[cluster.VJobID][]cluster.MilliCPU{vs.capacity.limits, most} {
		for id := range limits {
			if p, live := vs.gangs.live[id]; live {
				vs.nodes.renewAll(p.job)
			}
		}
	}
	vs.capacity.limits = most
}

// Demand is the CPU that a member was last seen to need, or, before it was seen, what
// it reserves.
func (vs *VMs) Demand(vm cluster.VMID) cluster.MilliCPU {
	p, ok := vs.gangs.of(vm)
	if !ok {
		return 0
	}
	return demand(p, vm.Rank)
}

func demand(p *gangState, rank int) cluster.MilliCPU {
	if cpu, seen := p.account.observed(rank); seen {
		return cpu
	}
	return p.job.VMs[rank].Reserved.CPU
}

// MemoryDemand is the working set of a member as it was last seen, or, if its guest does not tell,
// what it reserves.
func (vs *VMs) MemoryDemand(vm cluster.VMID) cluster.MiB {
	p, ok := vs.gangs.of(vm)
	if !ok {
		return 0
	}
	reserved := p.job.VMs[vm.Rank].Reserved.Memory
	if used := p.account.workingSet(vm.Rank); used > 0 {
		return min(used, reserved)
	}
	return reserved
}

// Use is the CPU that a member used between the last looks at it, over a second or longer. It is at most what the
// member needs and may use: the guests of a simulated cluster compute in scaled time.
func (vs *VMs) Use(vm cluster.VMID) cluster.MilliCPU {
	p, ok := vs.gangs.of(vm)
	if !ok {
		return 0
	}
	use := p.account.rate(vm.Rank)
	if most := p.member(vm.Rank).tuning.most; most > 0 {
		use = min(use, most)
	}
	return use
}

// used is what the VMs of a vjob use on their nodes. Those of a container use nothing: its inner vjobs do.
func (vs *VMs) used(p *gangState) (sum cluster.Resources) {
	if p.job.Container || p.job.State == cluster.Waiting || p.job.State == cluster.Suspended {
		return sum
	}
	for rank := range p.job.VMs {
		if vm := &p.job.VMs[rank]; vs.OnNode(vm.ID) {
			sum = sum.Plus(cluster.Resources{CPU: vs.Use(vm.ID), Memory: vm.Reserved.Memory})
		}
	}
	return sum
}

// OnNode reports whether a copy of a VM was seen on a node.
func (vs *VMs) OnNode(vm cluster.VMID) bool { return len(vs.nodes.seenOn[vm]) > 0 }

// Holds lists the nodes on which a member that is not idle has, or has been
// promised, room: where its copies are, where it goes, and every hop between.
func (vs *VMs) Holds(vm cluster.VMID) []cluster.NodeID {
	p := vs.gangs.live[vm.VJob]
	set := map[cluster.NodeID]bool{}
	m := p.rec.Members[vm.Rank]
	if m.Node != "" && p.rec.Phase != gang.Saved {
		set[m.Node] = true
	}
	if m.Next != "" {
		set[m.Next] = true
	}
	for _, a := range p.todo {
		for _, id := range a.gang.Actions {
			if act := a.plan.actions[id]; act.VM == vm && act.To != "" {
				set[act.To] = true
			}
		}
	}
	for _, id := range vs.nodes.seenOn[vm] {
		set[id] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// Destination is the node on which a member that is not idle will be if its plan succeeds; ""
// without such a node.
func (vs *VMs) Destination(vm cluster.VMID) cluster.NodeID {
	p := vs.gangs.live[vm.VJob]
	for _, a := range slices.Backward(p.todo) {
		for _, id := range slices.Backward(a.gang.Actions) {
			if act := a.plan.actions[id]; act.VM == vm {
				return act.To
			}
		}
	}
	if m := p.rec.Members[vm.Rank]; m.Next != "" {
		return m.Next
	}
	return p.rec.Members[vm.Rank].Node
}

// Cap is the CPU that a VM may use at most where it is; 0 if it is nowhere.
func (vs *VMs) Cap(id cluster.VMID) cluster.MilliCPU {
	p, ok := vs.gangs.of(id)
	if !ok {
		return 0
	}
	return vs.capacity.cap(p, id.Rank)
}

// Load is the most CPU that the VMs on a node may use: those with a copy there, unless their gang is paused
// in memory, and those that a call may bring that is under way or has ended since the last look. While a
// cap is being changed, the larger one counts.
func (vs *VMs) Load(id cluster.NodeID) cluster.MilliCPU {
	n, known := vs.nodes.byID[id]
	if !known {
		return 0
	}
	return vs.capacity.load(n)
}

// on is what the VMs on a node need, and of that what those of no live vjob do.
func (vs *VMs) on(n *node) (used, foreign cluster.Resources) {
	return vs.capacity.used(n), vs.capacity.foreign(n)
}

// MaxPower is the highest power of a node while its VMs may use [VMs.Load] plus this CPU; 0
// for nodes without a power model.
func (e *Executor) MaxPower(id cluster.NodeID, more cluster.MilliCPU) energy.Watts {
	n, known := e.nodes.byID[id]
	power := e.Power[id]
	switch {
	case !known:
		return 0
	case !n.on() && more <= 0:
		return power.Standby
	}
	return power.At(float64(e.VMs.Load(id)+more) / float64(max(n.Capacity.CPU, 1)))
}

// Space is the room for images where each node saves: the free space, less what gangs that are
// being saved still need, and less the margin. Nodes without a look at their store are missing.
func (e *Executor) Space() hypervisor.Spaces { return e.store.spaces(nil) }

// StoreProblem says why no image can be written or read at all; "" when they can.
func (e *Executor) StoreProblem() string { return e.store.problem }
