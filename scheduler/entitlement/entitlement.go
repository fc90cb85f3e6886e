// Package entitlement divides the CPU and the memory of the nodes that are on among the running VMs: by the
// pools, by the controls of each VM and by what each VM demands (VMware 2012 §2, §3.1.1). What a VM is entitled
// to becomes its CPU weight on its node, and a cap where a limit binds. The package is pure.
package entitlement

import (
	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/queue/pool"
)

// VM is a running VM.
type VM struct {
	ID     cluster.VMID
	Pool   string // "" is the cluster
	Node   cluster.NodeID
	Size   cluster.Resources // what it was submitted with; its memory is always reserved in full
	Demand cluster.MilliCPU
	// Controls of its CPU. A limit of 0 does not bind.
	Reservation, Limit cluster.MilliCPU
	Shares             int64
}

// most returns the most CPU that a VM gets: without a limit of its own its size, or what it demands if that is more.
func (v *VM) most() cluster.MilliCPU {
	most := max(v.Size.CPU, v.Demand)
	if v.Limit > 0 {
		most = min(most, v.Limit)
	}
	return most
}

// reserved returns the CPU that a VM has reserved.
func (v *VM) reserved() cluster.MilliCPU { return min(v.Reservation, v.most()) }

// controls returns the controls of a VM.
func (v *VM) controls() pool.Settings {
	return pool.Settings{
		CPU:    pool.Controls{Reservation: int64(v.reserved()), Limit: int64(v.most()), Shares: v.Shares},
		Memory: pool.Controls{Reservation: int64(v.Size.Memory), Limit: int64(v.Size.Memory), Shares: v.Shares},
	}
}

// Division is what pools and VMs are entitled to.
type Division struct {
	Capacity cluster.Resources
	Pools    []Pool // the cluster, then each pool after its parent
	VMs      map[cluster.VMID]Entitled
}

// Pool is the cluster or a pool.
type Pool struct {
	pool.Member
	pool.Entitlement
	VMs int // that run in it and in the pools below it
}

// Entitled is what a VM is entitled to.
type Entitled struct {
	pool.Entitlement
	Reserved cluster.MilliCPU // CPU
	Weight   int              // of its CPU on its node, from 1 to [MaxWeight]
	Cap      cluster.MilliCPU // the most CPU that limits leave it; 0 if no limit binds
}

// Divide divides the capacity of the nodes among the VMs. Each pool and VM is entitled to what it demands, within its
// limits, as long as there is enough (§3.1.1). What is left is divided by shares and counts for the weights alone, so that
// a VM that wakes gets its part before the next division. Where the VMs of a node are entitled to more than it has, the
// weights divide what it has. The hierarchy has the pools and no VMs, and stays as it is.
func Divide(h *pool.Hierarchy, nodes map[cluster.NodeID]cluster.Resources, vms []VM) *Division {
	capacity := cluster.Resources{}
	for _, of := range nodes {
		capacity = capacity.Plus(of)
	}
	h = h.Clone()
	h.DemandFirst = true
	pools, at := len(h.Members()), make([]int, len(vms))
	wanted := make(map[int]cluster.Resources, len(vms))
	for i := range vms {
		v := &vms[i]
		at[i] = h.Put(v.ID.String(), v.Pool, v.controls())
		wanted[at[i]] = cluster.Resources{CPU: v.Demand, Memory: v.Size.Memory}
	}
	demand := func(vm int) cluster.Resources { return wanted[vm] }
	given := h.DivideOf(capacity, demand)
	limits := h.CPULimits(func(vm int) cluster.MilliCPU { return wanted[vm].CPU })

	d := &Division{Capacity: capacity, Pools: make([]Pool, pools), VMs: make(map[cluster.VMID]Entitled, len(vms))}
	counts := make([]cluster.MilliCPU, len(vms))
	for i := range vms {
		counts[i] = given[at[i]].Given.CPU
	}
	for i := range given {
		e := &given[i]
		e.Given.CPU, e.Given.Memory = min(e.Given.CPU, e.Demand.CPU), min(e.Given.Memory, e.Demand.Memory)
	}
	crowded := crowding{h.Members(), given, nodes, vms, at}
	crowded.divide(counts)
	weights := weigh(vms, counts)
	for i, m := range h.Members()[:pools] {
		d.Pools[i] = Pool{Member: m, Entitlement: given[i]}
	}
	for i := range vms {
		v := &vms[i]
		d.VMs[v.ID] = Entitled{Entitlement: given[at[i]], Reserved: v.reserved(), Weight: weights[i], Cap: v.cap(cluster.MilliCPU(limits[at[i]]))}
		for p := h.Members()[at[i]].Parent; p >= 0; p = d.Pools[p].Parent {
			d.Pools[p].VMs++
		}
	}
	return d
}

// capStep is the resolution of caps in thousandths of a processor, so that small changes of demand change none.
const capStep = 10

// cap returns the cap of a VM of which limits leave so much CPU.
func (v *VM) cap(most cluster.MilliCPU) cluster.MilliCPU {
	if most >= max(v.Size.CPU, v.Demand) {
		return 0
	}
	if most != v.Limit {
		most -= most % capStep
	}
	return max(most, hypervisor.MinCap)
}
