package simulated

import (
	"slices"
	"time"

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

// operations are the calls in progress.
type operations struct {
	touched *touched

	clock  *clock
	outbox *outbox
	serial int64 // of the last operation
	byID   map[int64]*operation
}

// touch records that an operation has changed.
func (ops *operations) touch(op *operation) { ops.touched.ops.add(op.Serial) }

// jobOf returns the operation of a copy's job, or nil.
func (ops *operations) jobOf(m *machine) *operation { return ops.byID[m.Op] }

// add adds an operation for a call that begins now.
func (ops *operations) add(call hypervisor.Call) *operation {
	ops.serial++
	op := &operation{Serial: ops.serial, Call: call, Began: ops.clock.now}
	ops.byID[op.Serial] = op
	ops.touch(op)
	return op
}

// answerLater prepares an answer for a call that has no effect.
func (ops *operations) answerLater(op *operation, in time.Duration, f *failure) {
	ops.touch(op)
	op.Answer, op.Over = f, true
	ops.clock.schedule(in, event{Kind: evReply, Op: op.Serial})
}

// end ends a call and answers it.
func (ops *operations) end(op *operation, r hypervisor.Receipt, f *failure) {
	if ops.byID[op.Serial] == nil {
		return
	}
	delete(ops.byID, op.Serial)
	ops.touch(op)
	if op.Lost == lostError && f == nil {
		f = newFailure(hypervisor.ErrUnreachable, "%s %s on %s: connection reset", op.Call.Verb, op.Call.VM, op.Call.Node)
	}
	if op.Lost == lostSilent {
		return
	}
	ops.answer(op, r, f)
}

// answer answers the caller, once.
func (ops *operations) answer(op *operation, r hypervisor.Receipt, f *failure) {
	if op.Answered {
		return
	}
	ops.touch(op)
	op.Answered = true
	if f != nil {
		r = hypervisor.Receipt{}
	}
	ops.outbox.reply(Reply{Op: op.Call.Op, Receipt: r, Err: f.err(), Began: ops.clock.at(op.Began), Ended: ops.clock.time()})
}

// onNode lists the operations of a node, in order.
func (ops *operations) onNode(n *node) []*operation {
	var list []*operation
	for _, op := range ops.byID {
		if op.Call.Node == n.ID {
			list = append(list, op)
		}
	}
	slices.SortFunc(list, func(a, b *operation) int { return int(a.Serial - b.Serial) })
	return list
}
