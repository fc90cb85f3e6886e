package wire

import "time"

// Plan is a context switch in GET /v1/plans and GET /v1/plans/{id}.
type Plan struct {
	ID              int64      `json:"id"`
	State           string     `json:"state"`
	Policy          string     `json:"policy"`
	Began           time.Time  `json:"began"`
	Ended           *time.Time `json:"ended,omitempty"`
	CostMiB         int64      `json:"cost_mib"` // K of thesis eq. 8.1
	MakespanSeconds float64    `json:"makespan_seconds"`
	TookSeconds     float64    `json:"took_seconds,omitempty"`
	Ratio           float64    `json:"ratio,omitempty"` // took over makespan, of plans that are done
	Note            string     `json:"note,omitempty"`
	ActionCount     int        `json:"action_count"`
	Gangs           []Gang     `json:"gangs,omitempty"`   // detail only
	Actions         []Action   `json:"actions,omitempty"` // detail only
	Skews           []Skew     `json:"skews,omitempty"`   // detail only
}

// Gang is what a plan does with one vjob, and why.
type Gang struct {
	VJob  int64  `json:"vjob"`
	Kind  string `json:"kind"` // boot, suspend, resume, migrate, …
	Why   string `json:"why,omitempty"`
	Cause *Cause `json:"cause,omitempty"`
}

// Skew is how far apart the members of a gang were paused or resumed.
type Skew struct {
	VJob    int64   `json:"vjob"`
	Kind    string  `json:"kind"` // pause, resume
	Seconds float64 `json:"seconds"`
}

// PlanList is one page of GET /v1/plans, latest first.
type PlanList struct {
	Plans []Plan `json:"plans"`
}

// Action is one action of a plan.
type Action struct {
	ID       int     `json:"id"`
	Kind     string  `json:"kind"`
	VM       string  `json:"vm"`
	From     string  `json:"from,omitempty"`
	To       string  `json:"to,omitempty"`
	Live     bool    `json:"live,omitempty"`
	After    []int   `json:"after,omitempty"`
	StartSec float64 `json:"start_seconds"` // estimates, from the start of the plan
	EndSec   float64 `json:"end_seconds"`
	CostMiB  int64   `json:"cost_mib"`
	// BytesPerSecond is what a transfer keeps to on its links; absent: no limit.
	BytesPerSecond int64      `json:"bytes_per_second,omitempty"`
	State          string     `json:"state"`
	Began          *time.Time `json:"began,omitempty"`
	Ended          *time.Time `json:"ended,omitempty"`
	Note           string     `json:"note,omitempty"`
}
