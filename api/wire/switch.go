package wire

import "time"

// NodeSwitch is how far a node is on its way off or on.
type NodeSwitch struct {
	Phase  string    `json:"phase"` // on, emptying, stopping, off, starting, stuck
	Since  time.Time `json:"since"` // of the phase
	Wanted string    `json:"wanted"`
	// By is who wants it, for administrators; absent when nobody does in person.
	By string `json:"by,omitempty"`
	// Problem is why it does not get on, or is left alone, for administrators.
	Problem string `json:"problem,omitempty"`
}

// PowerChange is the body of POST /v1/nodes/{name}/power.
type PowerChange struct {
	Power string `json:"power"` // off, on
}
