package wire

import "time"

// Plan is a context switch in GET /v1/plans and GET /v1/plans/{id}.
type Plan struct {
	ID              int64      `json:"id"`                     // its number; later plans have larger ones
	State           string     `json:"state"`                  // running, done or failed
	Policy          string     `json:"policy"`                 // that decided it
	Began           time.Time  `json:"began"`                  // when it was started
	Ended           *time.Time `json:"ended,omitempty"`        // absent: it runs
	CostMiB         int64      `json:"cost_mib"`               // K of thesis eq. 8.1
	MakespanSeconds float64    `json:"makespan_seconds"`       // how long it is estimated to take
	TookSeconds     float64    `json:"took_seconds,omitempty"` // how long it took; absent while it runs
	Ratio           float64    `json:"ratio,omitempty"`        // took over makespan, of plans that are done
	Note            string     `json:"note,omitempty"`         // why it failed or was cut short
	ActionCount     int        `json:"action_count"`           // how many actions it has
	Gangs           []Gang     `json:"gangs,omitempty"`        // detail only
	Actions         []Action   `json:"actions,omitempty"`      // detail only
	Skews           []Skew     `json:"skews,omitempty"`        // detail only
}

// Gang is what a plan does with one vjob, and why.
type Gang struct {
	VJob  int64  `json:"vjob"`          // its number
	Kind  string `json:"kind"`          // boot, suspend, resume, migrate, …
	Why   string `json:"why,omitempty"` // the reason in words
	Cause *Cause `json:"cause,omitempty"`
}

// Skew is how far apart the members of a gang were paused or resumed.
type Skew struct {
	VJob    int64   `json:"vjob"`    // its number
	Kind    string  `json:"kind"`    // pause, resume
	Seconds float64 `json:"seconds"` // from the first to the last member
}

// PlanList is one page of GET /v1/plans, latest first.
type PlanList struct {
	Plans []Plan `json:"plans"`          // the latest first
	Next  string `json:"next,omitempty"` // the cursor of the following page; absent at the end
}

// Action is one action of a plan.
type Action struct {
	ID       int     `json:"id"`              // its place in the plan, from 0
	Kind     string  `json:"kind"`            // boot, stop, suspend, resume, remote resume, migrate, pause …
	VM       string  `json:"vm"`              // such as 12.3
	From     string  `json:"from,omitempty"`  // the node on which the VM is, or its image
	To       string  `json:"to,omitempty"`    // the node on which the VM will be
	Live     bool    `json:"live,omitempty"`  // the guest runs on during the migration
	After    []int   `json:"after,omitempty"` // actions that end before it begins
	StartSec float64 `json:"start_seconds"`   // estimates, from the start of the plan
	EndSec   float64 `json:"end_seconds"`     // from the start of the plan
	CostMiB  int64   `json:"cost_mib"`        // its part of the cost of the plan
	// BytesPerSecond is what a transfer keeps to on its links; absent: no limit.
	BytesPerSecond int64      `json:"bytes_per_second,omitempty"`
	State          string     `json:"state"`           // waiting, running, done, failed or dropped
	Began          *time.Time `json:"began,omitempty"` // absent: it has not begun
	Ended          *time.Time `json:"ended,omitempty"` // absent: it has not ended
	Note           string     `json:"note,omitempty"`  // why it failed or was dropped
}
