package simulated

import (
	"time"

	"vjob/hypervisor"
)

// The timeouts of real daemons, from the lab.
const (
	// keepalive is the time after which a silent connection counts as broken (lab §6).
	keepalive = 4 * time.Second
	// connectTime is how long a failed connection takes.
	connectTime = time.Second
	// jobLockWait is how long a call waits for the job of a copy (lab §6: "cannot
	// acquire state change lock" after 30 s).
	jobLockWait = 30 * time.Second
	// peerWait is how long a source waits for a frozen destination (M6, M9).
	peerWait = 30 * time.Second
)

// operation is one call in progress.
type operation struct {
	Serial   int64           `json:"serial"`
	Call     hypervisor.Call `json:"call"`
	Began    simTime         `json:"began"`
	Answered bool            `json:"answered"` // the caller has its answer, or will never get one
	Lost     Loss            `json:"lost"`     // what happens to the answer
	Slow     bool            `json:"slow"`
	Hangs    bool            `json:"hangs,omitempty"` // it continues after minutes
	Cut      cut             `json:"cut"`             // how the transfer will fail
	Ran      bool            `json:"ran"`             // the copy ran when its job began
	Answer   *failure        `json:"prepared"`        // the answer of evReply
	Waits    bool            `json:"waits"`           // for the job of the copy
	Started  bool            `json:"taken"`           // the node has begun with it
	Over     bool            `json:"over"`            // it has no more effect, only an answer is due
}

// Loss is what happens to the answer of a call that took effect.
type Loss uint8

// The losses.
const (
	NotLost    Loss = iota
	LostError       // the caller sees an error instead
	LostSilent      // no answer ever comes
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

// Begin sends a call to its node. Its answer, if any, is a [Reply] that [Cluster.Advance]
// returns. Every call is accepted, also a repeated one.
func (c *Cluster) Begin(now time.Time, call hypervisor.Call) {
	c.advance(now)
	c.executor.begin(call)
	c.propagate()
}
