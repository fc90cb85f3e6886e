package execute

import (
	"vjob/cluster"
	"vjob/energy"
	"vjob/hypervisor"
)

// Need is what a member of a vjob counts for now by the policy, also if its demand is limited.
func (e *Executor) Need(vm cluster.VMID) cluster.Resources {
	p, ok := e.gangs.of(vm)
	if !ok {
		return cluster.Resources{}
	}
	return e.capacity.wanted(p, vm.Rank)
}

// LimitDemand sets the CPU for which the VMs of some vjobs count at most, by rank. It replaces earlier limits.
func (e *Executor) LimitDemand(most map[cluster.VJobID][]cluster.MilliCPU) { e.capacity.limits = most }

// Demand is the CPU that a member was last seen to need, or, before it was seen, what
// it reserves.
func (e *Executor) Demand(vm cluster.VMID) cluster.MilliCPU {
	p, ok := e.gangs.of(vm)
	if !ok {
		return 0
	}
	if cpu, seen := p.account.observed(vm.Rank); seen {
		return cpu
	}
	return p.job.VMs[vm.Rank].Reserved.CPU
}

// MemoryDemand is the working set of a member as it was last seen, or, if its guest does not tell,
// what it reserves.
func (e *Executor) MemoryDemand(vm cluster.VMID) cluster.MiB {
	p, ok := e.gangs.of(vm)
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
func (e *Executor) Use(vm cluster.VMID) cluster.MilliCPU {
	p, ok := e.gangs.of(vm)
	if !ok {
		return 0
	}
	use := p.account.rate(vm.Rank)
	if most := p.member(vm.Rank).tuning.most; most > 0 {
		use = min(use, most)
	}
	return use
}

// OnNode reports whether a copy of a VM was seen on a node.
func (e *Executor) OnNode(vm cluster.VMID) bool { return len(e.nodes.seenOn[vm]) > 0 }

// Cap is the CPU that a VM may use at most where it is; 0 if it is nowhere.
func (e *Executor) Cap(id cluster.VMID) cluster.MilliCPU {
	p, ok := e.gangs.of(id)
	if !ok {
		return 0
	}
	return e.capacity.cap(p, id.Rank)
}

// Load is the most CPU that the VMs on a node may use: those with a copy there, unless their gang is paused
// in memory, and those that a call may bring that is under way or has ended since the last look. While a
// cap is being changed, the larger one counts.
func (e *Executor) Load(id cluster.NodeID) cluster.MilliCPU {
	n, known := e.nodes.byID[id]
	if !known {
		return 0
	}
	return e.capacity.load(n)
}

// MaxPower is the highest power of a node while its VMs may use [Executor.Load] plus this CPU; 0
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
	return power.At(float64(e.capacity.load(n)+more) / float64(max(n.Capacity.CPU, 1)))
}

// Space is the room for images where each node saves: the free space, less what gangs that are
// being saved still need, and less the margin. Nodes without a look at their store are missing.
func (e *Executor) Space() hypervisor.Spaces { return e.store.spaces(nil) }

// StoreProblem says why no image can be written or read at all; "" when they can.
func (e *Executor) StoreProblem() string { return e.store.problem }
