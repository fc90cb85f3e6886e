package wire

// Placement is one way to start a vjob, all its VMs together.
type Placement struct {
	Nodes   []string `json:"nodes"`              // of the VMs, by rank
	PowerOn []string `json:"power_on,omitempty"` // nodes that have to be switched on first
	Moves   int      `json:"moves"`              // actions on VMs of other vjobs that come first
	Plan    Plan     `json:"plan"`               // all of it, without a number
	// Before and After are how evenly the nodes that take VMs are used.
	Before Deviation `json:"before"`
	After  Deviation `json:"after"`
	// Watts is how much more the nodes draw; absent without power models.
	Watts  *float64 `json:"watts,omitempty"`
	Broken []string `json:"broken,omitempty"` // rules that would stay broken, or are dropped, with the reason
	Reason string   `json:"reason"`           // all of it in words
}

// Deviation has the standard deviations of the used fractions of the nodes: 0 is perfectly even.
type Deviation struct {
	CPU    float64 `json:"cpu"`    // of the used parts of the CPU, from 0 to 1
	Memory float64 `json:"memory"` // of the used parts of the memory, from 0 to 1
}
