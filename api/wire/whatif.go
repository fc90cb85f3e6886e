package wire

import "time"

// WhatIf is the body of POST /v1/what-if: hypothetical changes. Users may ask about a submission
// only, administrators about everything.
type WhatIf struct {
	Add    []WhatIfNodes  `json:"add,omitempty"`    // nodes that do not exist; nothing else refers to them before
	Drain  []string       `json:"drain,omitempty"`  // nodes set to draining
	Off    []string       `json:"off,omitempty"`    // nodes drained and switched off
	Lose   []string       `json:"lose,omitempty"`   // nodes declared down, with their VMs
	Online []string       `json:"online,omitempty"` // nodes put back online
	Demand []WhatIfDemand `json:"demand,omitempty"` // of VMs, one change after the other
	Pools  *[]WhatIfPool  `json:"pools,omitempty"`  // in place of all pools, those of the settings too
	Rules  *string        `json:"rules,omitempty"`  // in place of those that were stated
	Submit *Submission    `json:"submit,omitempty"` // an additional vjob
	// BudgetWatts is what the cluster may draw, in place of its budgets.
	BudgetWatts *float64 `json:"budget_watts,omitempty"`
	// Without are vjobs that are deleted; the name of an array, or some places in it, is several.
	Without []VJobName `json:"without,omitempty"`
	// Place asks for placements of a waiting or suspended vjob, 0 is the one of submit.
	Place        *VJobName `json:"place,omitempty"`
	Alternatives int       `json:"alternatives,omitempty"` // placements at most; 0 is 5
}

// WhatIfNodes are new nodes that are like an existing one: its capacity, labels, platforms, power model and network.
type WhatIfNodes struct {
	Name  string `json:"name,omitempty"`  // of one node; absent: the name of like with the next free number
	Count int    `json:"count,omitempty"` // of nodes without a name; 0 is 1
	Like  string `json:"like"`            // the existing node
}

// WhatIfDemand is another CPU demand of the VMs of some vjobs that have started. One of vjob, owner, pool and all says
// which, and one of percent and cpu_milli what they demand.
type WhatIfDemand struct {
	VJob  VJobName `json:"vjob,omitempty"`  // of this vjob
	Owner string   `json:"owner,omitempty"` // of the vjobs of this owner
	Pool  string   `json:"pool,omitempty"`  // with the pools in it
	All   bool     `json:"all,omitempty"`   // of all vjobs
	// Percent is the change of what each VM demands: 30 is 30 % more, -20 is 20 % less.
	Percent  *float64 `json:"percent,omitempty"`
	CPUMilli *int64   `json:"cpu_milli,omitempty"` // of each VM, in thousandths of a processor
}

// WhatIfPool is a pool as settings write it.
type WhatIfPool struct {
	Name   string       `json:"name"`             // of the pool
	Parent string       `json:"parent,omitempty"` // "" is the cluster
	CPU    PoolControls `json:"cpu,omitzero"`     // controls of the CPU
	Memory PoolControls `json:"memory,omitzero"`  // controls of the memory
}

// WhatIfResult is the decision for a [WhatIf].
type WhatIfResult struct {
	// VJobs are those with another outcome or another estimated start than now, and the hypothetical one.
	VJobs  []WhatIfVJob `json:"vjobs"`
	Plan   Plan         `json:"plan"`          // the context switch that would begin, without a number
	Why    string       `json:"why,omitempty"` // why there would be none
	Broken []string     `json:"broken"`        // what would break rules before it
	Leaves []string     `json:"leaves"`        // rules that would stay broken
	// Dropped are the preferred rules that the switch would break, each with the reason.
	Dropped []string `json:"dropped,omitempty"`
	Nodes   int      `json:"nodes"` // that would take VMs
	// Undrained are the drained nodes that would keep VMs, by name, each with the reason.
	Undrained map[string]string `json:"undrained,omitempty"`
	// Placements answer place, the best first. Refusals are the nodes that take none of its VMs, by name,
	// each with the reason.
	Placements []Placement       `json:"placements,omitempty"`
	Refusals   map[string]string `json:"refusals,omitempty"` // nodes that take none of its VMs, by name, each with the reason
	// Before and After sum up the cluster after what is decided now, and after what would be decided, each with its
	// plan carried out. Only administrators see them.
	Before *WhatIfFigures `json:"before,omitempty"`
	After  *WhatIfFigures `json:"after,omitempty"`
}

// WhatIfVJob is the outcome for one vjob: run, wait (it waits), suspend (it is suspended to disk) or
// pause (it is suspended in memory).
type WhatIfVJob struct {
	ID        int64  `json:"id"`                   // 0: the hypothetical one
	Name      string `json:"name"`                 // that was given to it
	Owner     string `json:"owner"`                // the account that submitted it
	State     string `json:"state"`                // what it does now
	VMCount   int    `json:"vm_count"`             // how many VMs it has
	Now       string `json:"now,omitempty"`        // its target without the changes: run, suspend, wait …
	NowReason string `json:"now_reason,omitempty"` // why
	Then      string `json:"then"`                 // its target with the changes
	Reason    string `json:"reason"`               // why
	// NowStart and ThenStart are the estimated starts of a vjob that waits; absent if unknown, or if it runs.
	NowStart  *time.Time `json:"now_start,omitempty"`
	ThenStart *time.Time `json:"then_start,omitempty"` // its expected start with the changes
}

// WhatIfFigures sum up a cluster.
type WhatIfFigures struct {
	Nodes     int `json:"nodes"`           // that take VMs
	Running   int `json:"vjobs_running"`   // vjobs that run
	Waiting   int `json:"vjobs_waiting"`   // vjobs that wait
	Suspended int `json:"vjobs_suspended"` // to disk or in memory
	// Imbalance is the standard deviation of the loads, of CPU and memory together.
	Imbalance float64      `json:"imbalance"`
	Loads     []WhatIfLoad `json:"loads"`            // of the nodes that take VMs, the most loaded one first
	CPU       int64        `json:"cpu_milli"`        // in use, in thousandths of a processor
	Memory    int64        `json:"memory_mib"`       // in use
	Demand    int64        `json:"cpu_demand_milli"` // of the VMs that run
	Served    int64        `json:"cpu_served_milli"` // of it, what the nodes have and limits allow
	Power     *WhatIfPower `json:"power,omitempty"`  // absent without power models
	Pools     []WhatIfUse  `json:"pools,omitempty"`  // the cluster, then each pool behind its parent; absent without pools
	Waits     WhatIfWaits  `json:"waits"`
	// Balancing has the moves that would even out the load next; absent if none is looked for: the settings do not
	// balance nodes evenly, or a plan comes first.
	Balancing *WhatIfBalancing `json:"balancing,omitempty"`
}

// WhatIfLoad is the load of a node: what its VMs are entitled to over what it has, 1 for all of it.
type WhatIfLoad struct {
	Node   string  `json:"node"`   // its name
	CPU    float64 `json:"cpu"`    // 1 is all that it has
	Memory float64 `json:"memory"` // 1 is all that it has
}

// WhatIfPower is what nodes draw, in watts.
type WhatIfPower struct {
	Watts   float64        `json:"watts"`                         // that the nodes draw
	Unknown int            `json:"nodes_without_model,omitempty"` // of which the power is unknown
	Budgets []WhatIfBudget `json:"budgets,omitempty"`             // that hold
}

// WhatIfBudget is a power budget and what is drawn of it.
type WhatIfBudget struct {
	Group string  `json:"group,omitempty"` // absent: the cluster
	Most  float64 `json:"budget_watts"`    // that may be drawn
	Drawn float64 `json:"watts"`           // that would be drawn
}

// WhatIfUse is what a pool demands and is entitled to.
type WhatIfUse struct {
	Pool        string  `json:"pool"`                   // its name
	Depth       int     `json:"depth"`                  // 0 for the cluster
	VMs         int     `json:"vms"`                    // that run
	Demand      int64   `json:"cpu_demand_milli"`       // of the VMs in it, whatever limits say
	Entitlement int64   `json:"cpu_entitlement_milli"`  // what its VMs should get, in thousandths of a processor
	Memory      int64   `json:"memory_entitlement_mib"` // what its VMs should get
	Satisfied   float64 `json:"satisfied"`              // entitlement over demand of CPU, 1 for all of it
}

// WhatIfWaits are the estimated waits of vjobs that wait or are suspended, in seconds from now on.
type WhatIfWaits struct {
	Known   int        `json:"vjobs_with_start"`       // with an estimated start
	Unknown int        `json:"vjobs_without_start"`    // vjobs that cannot be expected to start
	Mean    float64    `json:"mean_seconds"`           // until the start of a vjob that waits
	Longest float64    `json:"longest_seconds"`        // until the start of a vjob that waits
	Latest  *time.Time `json:"latest_start,omitempty"` // of the vjobs that wait
}

// WhatIfBalancing are the moves of a round of balancing.
type WhatIfBalancing struct {
	Imbalance float64       `json:"imbalance"`        // after the moves
	Moves     []BalanceMove `json:"moves"`            // that the search would find
	Makespan  float64       `json:"makespan_seconds"` // estimated
	Why       string        `json:"why"`              // why there are no moves, or no more
}
