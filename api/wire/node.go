package wire

import "time"

// Node is one node in GET /v1/nodes.
type Node struct {
	Name          string    `json:"name"`               // of the settings
	State         string    `json:"state"`              // of administration
	Silent        bool      `json:"silent"`             // does not answer
	Problem       string    `json:"problem,omitempty"`  // why it does not answer (administrators)
	Warnings      []string  `json:"warnings,omitempty"` // for administrators: such as that VMs are not confined
	Since         time.Time `json:"since"`              // when it got into its state
	CPUMilli      int64     `json:"cpu_milli"`          // its processors, in thousandths
	MemoryMiB     int64     `json:"memory_mib"`         // its memory for VMs
	UsedCPUMilli  int64     `json:"used_cpu_milli"`     // what its VMs have reserved, in thousandths of a processor
	UsedMemoryMiB int64     `json:"used_memory_mib"`    // what its VMs have reserved
	// DemandCPUMilli and DemandMemoryMiB are what its VMs demand, which may be more than it has.
	DemandCPUMilli  int64             `json:"demand_cpu_milli"`
	DemandMemoryMiB int64             `json:"demand_memory_mib"` // what its VMs demand, which may be more than it has
	Power           *NodePower        `json:"power,omitempty"`   // nil: unknown
	VMs             []string          `json:"vms"`               // those on it that the caller may see, such as 12.3
	Labels          map[string]string `json:"labels,omitempty"`  // of the settings, such as rack: r1
	Switch          *NodeSwitch       `json:"switch,omitempty"`  // nil: it cannot be switched off and on
	Maintenance     *NodeMaintenance  `json:"maintenance,omitempty"`
}

// NodeDuration is how long actions of one kind are estimated to take on a node.
type NodeDuration struct {
	Kind            string  `json:"kind"`             // boot, stop, suspend, resume, remote resume, migrate
	Source          string  `json:"source"`           // node: learned there; cluster: the median of the nodes; settings
	ConstantSeconds float64 `json:"constant_seconds"` // whatever the memory of the VM
	PerGiBSeconds   float64 `json:"per_gib_seconds"`  // for each GiB of memory of the VM
	Observations    int     `json:"observations"`     // on the node; of the last ones that count
	Spread          float64 `json:"spread"`           // usual relative error of one of them: 0.1 is 10 %
}

// NodePower is what a node draws.
type NodePower struct {
	Watts        float64 `json:"watts"`         // now, by the load that was last seen
	MostWatts    float64 `json:"most_watts"`    // while all its VMs use what their caps or reservations allow
	EnergyJoules int64   `json:"energy_joules"` // drawn so far; up to a minute of it is not yet counted
}

// NodeList is the answer to GET /v1/nodes.
type NodeList struct {
	Nodes    []Node    `json:"nodes"`              // of this page, in the order of their names
	Total    int       `json:"total"`              // how many there are on all pages
	Next     string    `json:"next,omitempty"`     // the cursor of the following page; absent at the end
	Failover *Failover `json:"failover,omitempty"` // absent if policy.failover is 0
	Alarms   *int      `json:"alarms,omitempty"`   // open ones that are not acknowledged (administrators)
}

// Failover is whether the VMs of any few nodes can start again on the others, as of the last decision.
type Failover struct {
	Nodes int  `json:"nodes"` // that may be lost at once (policy.failover)
	Holds bool `json:"holds"` // the VMs of any so many nodes can start again
	// What further VMs may reserve in sum; negative is missing. The largest piece may be smaller.
	SpareCPUMilli  int64    `json:"spare_cpu_milli"`
	SpareMemoryMiB int64    `json:"spare_memory_mib"` // what further VMs may reserve in sum, in MiB
	Lost           []string `json:"lost,omitempty"`   // nodes of which the loss cannot be made up for
	Why            string   `json:"why,omitempty"`    // what is missing
}

// NodeChange is the body of PATCH /v1/nodes/{name}: the state to put it in.
type NodeChange struct {
	// State is online, draining, offline, down, or maintenance: drained, and offline once it is empty. ready
	// ends the maintenance.
	State string `json:"state"`
	// Reason is why a node enters maintenance, for others to read.
	Reason string `json:"reason,omitempty"`
	// Fenced must be true to declare a node down: an administrator has made sure that
	// nothing runs there.
	Fenced bool `json:"fenced,omitempty"`
}

// NodesChange is the body of PATCH /v1/nodes: the nodes, and the state to put them in.
type NodesChange struct {
	Names []string `json:"names"` // of the nodes; all are changed, or none
	NodeChange
}

// NodeDetail is a node in GET /v1/nodes/{name}.
type NodeDetail struct {
	Node
	// Platforms are what VMs can be on the node, one for each domain type; empty: unknown, and every
	// VM counts as compatible.
	Platforms []NodePlatform `json:"platforms"`
	// Durations are how long actions are estimated to take on the node.
	Durations []NodeDuration `json:"durations,omitempty"`
}

// NodePlatform is what VMs of one domain type can be on a node. A VM comes only to nodes that offer the
// machine type and the CPU features that it was booted with.
type NodePlatform struct {
	Type         string   `json:"type"`                // kvm, qemu
	Arch         string   `json:"arch"`                // such as x86_64
	CPUModel     string   `json:"cpu_model,omitempty"` // the named model nearest to the CPU
	CPUFeatures  []string `json:"cpu_features"`        // empty: unknown
	MachineTypes []string `json:"machine_types"`       // full names; empty: unknown
}

// NodeMaintenance is how far a node is on its way into maintenance.
type NodeMaintenance struct {
	By     string    `json:"by"`               // the administrator that began it
	Reason string    `json:"reason,omitempty"` // of that administrator
	Since  time.Time `json:"since"`            // when it began
	Empty  bool      `json:"empty"`            // it is in maintenance: nothing is on the node
	VMs    int       `json:"vms"`              // that were there when it began
	Left   int       `json:"left"`             // that are still there
	// Moving are the VMs that leave now, those that the caller may see.
	Moving []string `json:"moving"`
	// Stays says what no plan takes off the node, and why (administrators).
	Stays string `json:"stays,omitempty"`
	// End is when the node is estimated to be empty; absent if unknown.
	End *time.Time `json:"end,omitempty"`
}
