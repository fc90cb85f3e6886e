package simulated

import (
	"slices"
	"time"

	"vjob/hypervisor"
)

// operations are the calls in progress.
type operations struct {
	clock  *clock
	outbox *outbox
	serial int64 // of the last operation
	byID   map[int64]*operation
}

// jobOf returns the operation of a copy's job, or nil.
func (ops *operations) jobOf(m *machine) *operation { return ops.byID[m.Op] }

// add adds an operation for a call that begins now.
func (ops *operations) add(call hypervisor.Call) *operation {
	ops.serial++
	op := &operation{Serial: ops.serial, Call: call, Began: ops.clock.now}
	ops.byID[op.Serial] = op
	return op
}

// answerLater prepares an answer for a call that has no effect.
func (ops *operations) answerLater(op *operation, in time.Duration, f *failure) {
	op.Answer, op.Over = f, true
	ops.clock.schedule(in, event{Kind: evReply, Op: op.Serial})
}

// end ends a call and answers it.
func (ops *operations) end(op *operation, r hypervisor.Receipt, f *failure) {
	if ops.byID[op.Serial] == nil {
		return
	}
	delete(ops.byID, op.Serial)
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
