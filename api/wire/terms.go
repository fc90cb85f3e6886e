package wire

import "vjob/cluster"

// Terms are the scheduling terms of a vjob. All are optional.
type Terms struct {
	cluster.Terms
	// Inner is the container in which it runs, by number or by name; it hides the number of the other terms.
	Inner  VJobName `json:"inner,omitempty"`
	Shapes []Shape  `json:"shapes,omitempty"` // alternatives of a moldable vjob
}

// Shape is one alternative of a moldable vjob: VMs as in a submission, and how long it
// runs then.
type Shape struct {
	Count           int      `json:"count,omitempty"`    // of the VMs, beside template
	Template        *VMSpec  `json:"template,omitempty"` // of which each VM is a copy
	VMs             []VMSpec `json:"vms,omitempty"`      // one by one, in place of count and template
	WalltimeSeconds int64    `json:"walltime_seconds"`   // of running time
	Rules           string   `json:"rules,omitempty"`    // in place of those of the vjob
}
