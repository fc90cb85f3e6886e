package wire

import "time"

// Recommendation is a set of changes that belong together, with their reason, benefit and cost.
type Recommendation struct {
	ID      int64     `json:"id"`             // its number; later ones are larger
	Kind    string    `json:"kind"`           // start, balance, consolidate, drain, power
	State   string    `json:"state"`          // pending, approved, applied, rejected, refused, superseded, expired
	At      time.Time `json:"at"`             // when it was made
	Expires time.Time `json:"expires"`        // if no search proposes it again
	Changes string    `json:"changes"`        // as text
	Reason  string    `json:"reason"`         // why it is made
	VJob    int64     `json:"vjob,omitempty"` // that starts
	Node    string    `json:"node,omitempty"` // that is emptied
	Moves   []Move    `json:"moves"`          // VMs that move or start
	On      []string  `json:"on"`             // nodes that are switched on
	Off     []string  `json:"off"`            // nodes that are switched off
	// Imbalance is the standard deviation of the load of the nodes; absent where it does not count.
	ImbalanceBefore float64 `json:"imbalance_before,omitempty"`
	ImbalanceAfter  float64 `json:"imbalance_after,omitempty"` // the same after the changes
	// Watts are drawn by the nodes concerned; absent if unknown.
	WattsBefore float64 `json:"watts_before,omitempty"`
	WattsAfter  float64 `json:"watts_after,omitempty"` // the same after the changes
	// Benefit and cost are CPU time; energy that is saved counts as the CPU time that it gives.
	BenefitSeconds float64 `json:"benefit_cpu_seconds,omitempty"`
	CostSeconds    float64 `json:"cost_cpu_seconds,omitempty"` // CPU time that the changes take
	DependsOn      []int64 `json:"depends_on,omitempty"`       // recommendations that are applied before
	// Prerequisites are the changes of it that begin only once others have ended.
	Prerequisites []Prerequisite `json:"prerequisites,omitempty"`
	By            string         `json:"by,omitempty"`      // the administrator that approved or rejected it
	Decided       *time.Time     `json:"decided,omitempty"` // when it was approved, rejected or superseded
	Note          string         `json:"note,omitempty"`    // why it was refused, rejected or superseded
	Plan          int64          `json:"plan,omitempty"`    // that carries it out
}

// Prerequisite is what has to end before a change of a recommendation begins. The change is the move of a VM, the start of
// a vjob, that a node is switched off, or without any of them all of the recommendation.
type Prerequisite struct {
	VM     string  `json:"vm,omitempty"`   // the VM that moves
	VJob   int64   `json:"vjob,omitempty"` // the vjob that starts
	Off    string  `json:"off,omitempty"`  // the node that is switched off
	Moves  []Move  `json:"moves"`          // that make room, or empty the node
	Leave  []int64 `json:"leave"`          // vjobs that are suspended or stopped
	Plan   int64   `json:"plan,omitempty"` // a context switch that has to end
	Change string  `json:"change"`         // what begins, as text
	After  string  `json:"after"`          // what has to end, as text
}

// Move takes a VM to another node.
type Move struct {
	VM   string `json:"vm"`             // such as 12.3
	From string `json:"from,omitempty"` // absent if it starts
	To   string `json:"to"`             // the node to which the VM moves
}

// RecommendationList is the answer to GET /v1/recommendations.
type RecommendationList struct {
	Recommendations []Recommendation `json:"recommendations"` // the newest first
	Next            string           `json:"next,omitempty"`  // the cursor of the following page; absent at the end
	// NotMade says why no recommendation waits for approval; absent if one does, or others were asked for.
	NotMade []NotMade `json:"not_made,omitempty"`
}

// NotMade is why there is no recommendation of some kinds.
type NotMade struct {
	Kinds []string `json:"kinds"` // of recommendations
	Why   string   `json:"why"`   // the reason in words
	See   string   `json:"see"`   // the command that says more
}

// Rejection is the body of POST /v1/recommendations/{id}/reject.
type Rejection struct {
	Why string `json:"why,omitempty"` // for the record and for other administrators
}
