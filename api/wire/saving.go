package wire

import "time"

// Consolidation is the result of the searches for placements of running VMs that draw less.
type Consolidation struct {
	Enabled bool               `json:"enabled"`           // the cluster is searched for such placements
	NextAt  *time.Time         `json:"next_at,omitempty"` // the earliest next search
	Last    *ConsolidationLook `json:"last,omitempty"`    // the last one
	Done    *ConsolidationLook `json:"done,omitempty"`    // the last one that moved VMs
	// These count since the daemon was started; energy is estimated.
	Looks       int     `json:"looks"`
	Plans       int     `json:"plans"`        // context switches that carried such moves out
	VMs         int     `json:"vms"`          // VMs that were moved
	SavesJoules float64 `json:"saves_joules"` // energy that the moves save, estimated
	CostsJoules float64 `json:"costs_joules"` // energy that the moves took, estimated
}

// ConsolidationLook is one search: the VMs that would draw less elsewhere, and why they were
// moved or not.
type ConsolidationLook struct {
	At          time.Time `json:"at"`             // when it ended
	Nodes       int       `json:"nodes"`          // searched
	Looks       int       `json:"looks"`          // searches until all nodes were searched
	VMs         []string  `json:"vms"`            // that would move
	VJobs       []int64   `json:"vjobs"`          // of these VMs
	Dark        []string  `json:"dark"`           // nodes that could be switched off then
	BeforeWatts float64   `json:"before_watts"`   // power of the affected nodes
	AfterWatts  float64   `json:"after_watts"`    // after the moves
	SavesJoules float64   `json:"saves_joules"`   // within the horizon
	CostsJoules float64   `json:"costs_joules"`   // 0 without a plan
	YieldBefore float64   `json:"yield_before"`   // the least CPU share of the VMs; 0 without a plan
	YieldAfter  float64   `json:"yield_after"`    // after the moves
	Plan        int64     `json:"plan,omitempty"` // that moves them
	Why         string    `json:"why,omitempty"`  // why no VM is moved
}
