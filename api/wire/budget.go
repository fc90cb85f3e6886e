package wire

import "time"

// Budget is what the cluster, or the nodes with a label, may draw.
type Budget struct {
	Watts float64 `json:"watts"`           // that may be drawn
	Group string  `json:"group,omitempty"` // "rack=r1"; "" is the cluster
	When  string  `json:"when,omitempty"`  // a window in time, "Mo-Fr 18:00-08:00"; "" applies when no other window of the group does
}

// Budgets is the power budgets, and what they mean now.
type Budgets struct {
	Settings []Budget       `json:"settings"`            // those of the daemon's settings, which hold as well
	Stated   []Budget       `json:"stated"`              // those that administrators have stated
	StatedBy string         `json:"stated_by,omitempty"` // the administrator that stated them; for administrators
	StatedAt *time.Time     `json:"stated_at,omitempty"` // when they were stated
	Limits   []Limit        `json:"limits"`              // in force now
	Changes  []BudgetChange `json:"changes"`             // the first ones of the next day
	Waits    []int64        `json:"waits,omitempty"`     // suspended vjobs that wait for power; of users their own
}

// Limit is a budget that holds now.
type Limit struct {
	Budget
	DrawnWatts   float64 `json:"drawn_watts"`             // now, by the load that was last seen
	MostWatts    float64 `json:"most_watts"`              // while all VMs use what they may
	ShortWatts   float64 `json:"short_watts,omitempty"`   // that its nodes draw more even without any vjob
	Nodes        int     `json:"nodes"`                   // that it counts
	UnknownNodes int     `json:"unknown_nodes,omitempty"` // with unknown power; they do not count
}

// BudgetChange is a coming change of the budgets.
type BudgetChange struct {
	At     time.Time `json:"at"`     // when the budgets change
	From   time.Time `json:"from"`   // when the vjobs that exceed them are suspended
	Limits []Budget  `json:"limits"` // the budgets from then on
	Stops  []int64   `json:"stops"`  // running vjobs that will be suspended, by the present forecast; of users their own
}

// BudgetsChange replaces the budgets that were stated.
type BudgetsChange struct {
	Budgets []Budget `json:"budgets"`         // all budgets; an empty list removes those that were stated
	Check   bool     `json:"check,omitempty"` // only check them
}
