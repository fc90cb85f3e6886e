package wire

import "time"

// NodeSwitch is the power state of a node that can be switched off and on.
type NodeSwitch struct {
	Phase  string    `json:"phase"`  // on, emptying, stopping, off, starting, stuck
	Since  time.Time `json:"since"`  // of the phase
	Wanted string    `json:"wanted"` // on or off
	// By is the administrator that asked for it, shown to administrators; absent for the policy.
	By string `json:"by,omitempty"`
	// Problem is why it is stuck or excluded, shown to administrators.
	Problem string `json:"problem,omitempty"`
}

// PowerChange is the body of POST /v1/nodes/{name}/power.
type PowerChange struct {
	Power string `json:"power"` // off, on
}
