package simulated

import (
	"vjob/hypervisor"
)

// operation is one call in progress.
type operation struct {
	Serial     int64           `json:"serial"`
	Call       hypervisor.Call `json:"call"`
	Began      simTime         `json:"began"`
	Answered   bool            `json:"answered"` // the caller has its answer, or will never get one
	Lost       loss            `json:"lost"`     // what happens to the answer
	Slow       bool            `json:"slow"`
	Hangs      bool            `json:"hangs,omitempty"` // it continues minutes later
	Cut        cut             `json:"cut"`             // how the transfer will fail
	WasRunning bool            `json:"ran"`             // the copy ran when its job began
	Answer     *failure        `json:"prepared"`        // the answer of evReply
	Waits      bool            `json:"waits"`           // for the job of the copy
	Started    bool            `json:"taken"`           // the node has begun it
	Over       bool            `json:"over"`            // it has no further effect, only an answer is due
}

// loss is what happens to the answer of a call that took effect.
type loss uint8

// The losses.
const (
	notLost    loss = iota
	lostError       // the caller sees an error instead
	lostSilent      // no answer ever comes
)

// cut is how a transfer fails.
type cut uint8

const (
	cutNot      cut = iota
	cutMiddle       // migration: in the memory phase, the source keeps the VM
	cutFinish       // migration: the last reply is lost, both ends have a copy
	cutFull         // save: the disk is full, the new file is removed (row 6d)
	cutFullLeft     // save: the disk is full, a partial file stays (row 6d3)
	cutLoad         // restore: the hypervisor refuses to load the good image
)

// mark records how a fault will affect the call.
func (op *operation) mark(k FaultKind) {
	switch k {
	case CallLost:
		op.Lost = lostError
	case CallSilent:
		op.Lost = lostSilent
	case CallSlow:
		op.Slow = true
	case SaveFull:
		op.Cut = cutFull
	case SaveFullLeft:
		op.Cut = cutFullLeft
	case MigrateCut:
		op.Cut = cutMiddle
	case MigrateSplit:
		op.Cut = cutFinish
	case CallLate, BootStuck:
		op.Hangs = true
	default: // CallFails has no later effect
	}
}
