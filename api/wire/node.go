package wire

// NodeDetail is a node in GET /v1/nodes/{name}.
type NodeDetail struct {
	Node
	// Platforms are what VMs can be on the node, one for each domain type; empty: unknown, and every
	// VM counts as compatible.
	Platforms []NodePlatform `json:"platforms"`
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
