package wire

import "vjob/cluster"

// Terms are the scheduling terms of a vjob. All are optional.
type Terms struct {
	cluster.Terms
	Shapes []Shape `json:"shapes,omitempty"` // alternatives of a moldable vjob
}

// Shape is one alternative of a moldable vjob: VMs as in a submission, and how long it
// runs then.
type Shape struct {
	Count           int      `json:"count,omitempty"`
	Template        *VMSpec  `json:"template,omitempty"`
	VMs             []VMSpec `json:"vms,omitempty"`
	WalltimeSeconds int64    `json:"walltime_seconds"`
	Rules           string   `json:"rules,omitempty"`
}
