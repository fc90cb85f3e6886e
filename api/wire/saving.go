package wire

import "time"

// Consolidation is what has come of looks for places where VMs that run draw less.
type Consolidation struct {
	Enabled bool               `json:"enabled"`
	NextAt  *time.Time         `json:"next_at,omitempty"` // when the next look may be
	Last    *ConsolidationLook `json:"last,omitempty"`    // the last one
	Done    *ConsolidationLook `json:"done,omitempty"`    // the last one for which VMs were moved
	// These count since the daemon was started; energy is as it was reckoned.
	Looks       int     `json:"looks"`
	Plans       int     `json:"plans"`
	VMs         int     `json:"vms"`
	SavesJoules float64 `json:"saves_joules"`
	CostsJoules float64 `json:"costs_joules"`
}

// ConsolidationLook is one look: who would be better off elsewhere, and why they were moved
// or not.
type ConsolidationLook struct {
	At          time.Time `json:"at"`
	Nodes       int       `json:"nodes"`          // that were looked at
	Looks       int       `json:"looks"`          // that it takes until all are
	VMs         []string  `json:"vms"`            // that would move
	VJobs       []int64   `json:"vjobs"`          // whose they are
	Dark        []string  `json:"dark"`           // nodes that could go off then
	BeforeWatts float64   `json:"before_watts"`   // what the nodes draw that they leave or come to
	AfterWatts  float64   `json:"after_watts"`    // and would draw
	SavesJoules float64   `json:"saves_joules"`   // within the horizon
	CostsJoules float64   `json:"costs_joules"`   // 0 if it did not come to a plan
	YieldBefore float64   `json:"yield_before"`   // the part of their CPU that all may use who get shares; 0 as for costs
	YieldAfter  float64   `json:"yield_after"`    // and then
	Plan        int64     `json:"plan,omitempty"` // that moves them
	Why         string    `json:"why,omitempty"`  // why nobody is moved
}
