package wire

import "time"

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
	Type         string   `json:"type"` // kvm, qemu
	Arch         string   `json:"arch"`
	CPUModel     string   `json:"cpu_model,omitempty"` // the named model nearest to the CPU
	CPUFeatures  []string `json:"cpu_features"`        // empty: unknown
	MachineTypes []string `json:"machine_types"`       // full names; empty: unknown
}

// NodeMaintenance is how far a node is on its way into maintenance.
type NodeMaintenance struct {
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
	Since  time.Time `json:"since"`
	Empty  bool      `json:"empty"` // it is in maintenance: nothing is on the node
	VMs    int       `json:"vms"`   // that were there when it began
	Left   int       `json:"left"`  // that are still there
	// Moving are the VMs that leave now, those that the caller may see.
	Moving []string `json:"moving"`
	// Stays says what no plan takes off the node, and why (administrators).
	Stays string `json:"stays,omitempty"`
	// End is when the node is estimated to be empty; absent if unknown.
	End *time.Time `json:"end,omitempty"`
}
