package wire

import "time"

// Balance is the result of the last search for moves off crowded nodes.
type Balance struct {
	Enabled   bool       `json:"enabled"`           // the cluster is searched for such moves
	Placement string     `json:"placement"`         // spread, pack, efficient
	At        *time.Time `json:"at,omitempty"`      // when the last search ended
	NextAt    *time.Time `json:"next_at,omitempty"` // the earliest next search
	// Imbalance is the standard deviation of the loads, of CPU, memory and network together.
	Imbalance      float64       `json:"imbalance"`
	ImbalanceAfter float64       `json:"imbalance_after"` // after the moves
	Nodes          []NodeLoad    `json:"nodes"`           // the load of each node
	Moves          []BalanceMove `json:"moves"`           // those that the last search found
	Waiting        []BalanceMove `json:"waiting"`         // moves that wait for approval, after the others
	Plan           int64         `json:"plan,omitempty"`  // that carries the moves out
	Why            string        `json:"why"`             // why there are no moves, or no more
	VMsMoved       int           `json:"vms_moved"`       // since the daemon was started
}

// NodeLoad is the load of a node: what its VMs are entitled to over what it has; 1 is all of it.
type NodeLoad struct {
	Node        string  `json:"node"`         // its name
	CPU         float64 `json:"cpu"`          // before the moves
	Memory      float64 `json:"memory"`       // before the moves
	CPUAfter    float64 `json:"cpu_after"`    // after the moves
	MemoryAfter float64 `json:"memory_after"` // after the moves
	// Network is the load of the link: what VMs receive or send, whichever is more. Absent if the settings do not state
	// the link, or if no VM uses the network.
	Network      *float64 `json:"network,omitempty"`
	NetworkAfter *float64 `json:"network_after,omitempty"` // after the moves
	Over         bool     `json:"over"`                    // it is over its capacity and stays so
	Held         string   `json:"held,omitempty"`          // why it stays crowded; absent if it does not
	VMs          []string `json:"held_vms,omitempty"`      // what holds each VM there
}

// BalanceMove is one move, what it brings and what it costs.
type BalanceMove struct {
	Move
	Gain           float64 `json:"gain"`                // by how much the imbalance falls
	BenefitSeconds float64 `json:"benefit_cpu_seconds"` // CPU time that VMs gain
	CostSeconds    float64 `json:"cost_cpu_seconds"`    // CPU time that the move takes
	Reason         string  `json:"reason"`              // why it is made
	After          []int   `json:"after,omitempty"`     // moves of the same list that make room for it, by index
}
