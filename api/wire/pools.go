package wire

import "time"

// PoolList is the answer to GET /v1/pools.
type PoolList struct {
	// Divided: the cluster is divided, so that demands and entitlements are known. It is not while there are no
	// pools and no vjob has shares, a CPU reservation or a CPU limit of its own.
	Divided  bool       `json:"divided"`
	Pools    []Pool     `json:"pools"`               // the cluster, then each pool behind its parent
	StatedBy string     `json:"stated_by,omitempty"` // the administrator that changed the stated pools last
	Stated   *time.Time `json:"stated,omitempty"`    // when the stated pools were changed last
}

// Pool is the cluster or a pool, with all that is in the pools below it.
type Pool struct {
	Name   string     `json:"name"`             // cluster for all of it
	Parent string     `json:"parent,omitempty"` // "" for the cluster
	Depth  int        `json:"depth"`            // 0 for the cluster
	Stated bool       `json:"stated,omitempty"` // through the API, not in the settings
	VJobs  int        `json:"vjobs"`            // that have not ended
	VMs    int        `json:"vms"`              // that run
	CPU    PoolCPU    `json:"cpu"`              // in thousandths of a processor
	Memory PoolMemory `json:"memory"`           // in MiB
}

// PoolCPU is the CPU of a pool, in thousandths of a processor.
type PoolCPU struct {
	Reservation int64  `json:"reservation_milli"`     // its own
	Reserved    int64  `json:"reserved_milli"`        // its own, or what runs in it has reserved, if that is more
	Limit       *int64 `json:"limit_milli,omitempty"` // absent without a limit
	Shares      int64  `json:"shares"`                // its part among the pools beside it under contention
	Demand      int64  `json:"demand_milli"`          // what its VMs demand
	Entitlement int64  `json:"entitlement_milli"`     // what its VMs should get
	Used        int64  `json:"used_milli"`            // what its VMs use
}

// PoolMemory is the memory of a pool, in MiB.
type PoolMemory struct {
	Reservation int64  `json:"reservation_mib"`     // its own
	Reserved    int64  `json:"reserved_mib"`        // its own, or what runs in it has reserved, if that is more
	Limit       *int64 `json:"limit_mib,omitempty"` // absent without a limit
	Shares      int64  `json:"shares"`              // its part among the pools beside it under contention
	Demand      int64  `json:"demand_mib"`          // what its VMs demand
	Entitlement int64  `json:"entitlement_mib"`     // what its VMs should get
	Used        int64  `json:"used_mib"`            // what its VMs use
}

// PoolDetail is the answer to GET /v1/pools/{name}.
type PoolDetail struct {
	Pool
	Members []PoolVJob `json:"members"` // the vjobs in the pool itself that the caller may see
}

// PoolVJob is a vjob of a pool.
type PoolVJob struct {
	ID    int64    `json:"id"`    // its number
	Owner string   `json:"owner"` // the account that submitted it
	State string   `json:"state"` // of the vjob
	VMs   []PoolVM `json:"vms"`   // those that run, as of the last division
}

// PoolVM is a running VM of a pool.
type PoolVM struct {
	ID   string `json:"id"`   // "12.3"
	Node string `json:"node"` // on which it runs
	Entitlement
}

// Entitlement is what a VM demands, within its controls, and what it should get.
type Entitlement struct {
	CPUDemand int64 `json:"cpu_demand_milli"`        // what it demands, in thousandths of a processor
	CPU       int64 `json:"cpu_entitlement_milli"`   // what it should get, in thousandths of a processor
	CPUWeight int   `json:"cpu_weight"`              // under contention, from 1 to 10000
	CPUCap    int64 `json:"cpu_cap_milli,omitempty"` // absent if no limit binds
	Memory    int64 `json:"memory_entitlement_mib"`  // what it should get, in MiB
}

// PoolChange is the body of PUT /v1/pools/{name}.
type PoolChange struct {
	Parent string       `json:"parent,omitempty"` // "" is the cluster
	CPU    PoolControls `json:"cpu,omitzero"`     // controls of the CPU
	Memory PoolControls `json:"memory,omitzero"`  // controls of the memory
}

// PoolControls are the controls of one resource as settings write them. Each may be absent: nothing reserved, no
// limit, normal shares.
type PoolControls struct {
	Reservation string `json:"reservation,omitempty"` // "8" processors, or "32GiB"
	Limit       string `json:"limit,omitempty"`       // as reservation, or nothing for no limit
	Shares      string `json:"shares,omitempty"`      // high, normal, low or a number
}
