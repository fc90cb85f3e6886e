package wire

import "time"

// PoolList is the answer to GET /v1/pools.
type PoolList struct {
	// Divided: the cluster is divided, so that demands and entitlements are known. It is not while there are no
	// pools and no vjob has shares, a CPU reservation or a CPU limit of its own.
	Divided  bool       `json:"divided"`
	Pools    []Pool     `json:"pools"` // the cluster, then each pool behind its parent
	StatedBy string     `json:"stated_by,omitempty"`
	Stated   *time.Time `json:"stated,omitempty"` // when the stated pools were changed last
}

// Pool is the cluster or a pool, with all that is in the pools below it.
type Pool struct {
	Name   string     `json:"name"`
	Parent string     `json:"parent,omitempty"` // "" for the cluster
	Depth  int        `json:"depth"`            // 0 for the cluster
	Stated bool       `json:"stated,omitempty"` // through the API, not in the settings
	VJobs  int        `json:"vjobs"`            // that have not ended
	VMs    int        `json:"vms"`              // that run
	CPU    PoolCPU    `json:"cpu"`
	Memory PoolMemory `json:"memory"`
}

// PoolCPU is the CPU of a pool, in thousandths of a processor.
type PoolCPU struct {
	Reservation int64  `json:"reservation_milli"`     // its own
	Reserved    int64  `json:"reserved_milli"`        // its own, or what runs in it has reserved, if that is more
	Limit       *int64 `json:"limit_milli,omitempty"` // absent without a limit
	Shares      int64  `json:"shares"`
	Demand      int64  `json:"demand_milli"`
	Entitlement int64  `json:"entitlement_milli"`
	Used        int64  `json:"used_milli"`
}

// PoolMemory is the memory of a pool, in MiB.
type PoolMemory struct {
	Reservation int64  `json:"reservation_mib"`
	Reserved    int64  `json:"reserved_mib"`
	Limit       *int64 `json:"limit_mib,omitempty"`
	Shares      int64  `json:"shares"`
	Demand      int64  `json:"demand_mib"`
	Entitlement int64  `json:"entitlement_mib"`
	Used        int64  `json:"used_mib"`
}

// PoolDetail is the answer to GET /v1/pools/{name}.
type PoolDetail struct {
	Pool
	Members []PoolVJob `json:"members"` // the vjobs in the pool itself that the caller may see
}

// PoolVJob is a vjob of a pool.
type PoolVJob struct {
	ID    int64    `json:"id"`
	Owner string   `json:"owner"`
	State string   `json:"state"`
	VMs   []PoolVM `json:"vms"` // those that run, as of the last division
}

// PoolVM is a running VM of a pool.
type PoolVM struct {
	ID   string `json:"id"` // "12.3"
	Node string `json:"node"`
	Entitlement
}

// Entitlement is what a VM demands, within its controls, and what it should get.
type Entitlement struct {
	CPUDemand int64 `json:"cpu_demand_milli"`
	CPU       int64 `json:"cpu_entitlement_milli"`
	CPUWeight int   `json:"cpu_weight"`              // under contention, from 1 to 10000
	CPUCap    int64 `json:"cpu_cap_milli,omitempty"` // absent if no limit binds
	Memory    int64 `json:"memory_entitlement_mib"`
}

// PoolChange is the body of PUT /v1/pools/{name}.
type PoolChange struct {
	Parent string       `json:"parent,omitempty"` // "" is the cluster
	CPU    PoolControls `json:"cpu,omitzero"`
	Memory PoolControls `json:"memory,omitzero"`
}

// PoolControls are the controls of one resource as settings write them. Each may be absent: nothing reserved, no
// limit, normal shares.
type PoolControls struct {
	Reservation string `json:"reservation,omitempty"` // "8" processors, or "32GiB"
	Limit       string `json:"limit,omitempty"`
	Shares      string `json:"shares,omitempty"` // high, normal, low or a number
}
