package simulated

import (
	"slices"
	"time"

	"vjob/hypervisor"
)

// How long real daemons wait, from the lab.
const (
	// keepalive is after how long a silent connection counts as broken (lab §6).
	keepalive = 4 * time.Second
	// connectTime is how long it takes to learn that a node is not there.
	connectTime = time.Second
	// jobLockWait is how long a call waits for the job of a copy (lab §6: "cannot
	// acquire state change lock" after 30 s).
	jobLockWait = 30 * time.Second
	// peerWait is when a source gives up a frozen destination (M6, M9).
	peerWait = 30 * time.Second
)

// operation is one call under way.
type operation struct {
	Serial   int64           `json:"serial"`
	Call     hypervisor.Call `json:"call"`
	Began    moment          `json:"began"`
	Answered bool            `json:"answered"` // the caller knows an answer, or will never
	Lost     Loss            `json:"lost"`     // what happens to the answer
	Slow     bool            `json:"slow"`
	Hangs    bool            `json:"hangs,omitempty"` // it goes on after minutes
	Cut      cut             `json:"cut"`             // how the transfer is going to fail
	Ran      bool            `json:"ran"`             // the copy ran when its job began
	Prepared *failure        `json:"prepared"`        // the answer of evReply
	Waits    bool            `json:"waits"`           // for the job of the copy
	Taken    bool            `json:"taken"`           // the node has begun with it
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
	cutLoad         // restore: the hypervisor refuses to load the image, whole as it is
)

// Begin lets a call arrive at its node. The answer, if one comes, is a [Reply]
// among the happenings. Every call is accepted, also one made before.
func (c *Cluster) Begin(now time.Time, call hypervisor.Call) {
	c.run(now)
	c.serial++
	op := &operation{Serial: c.serial, Call: call, Began: c.now}
	c.ops[op.Serial] = op
	h, ok := c.hosts[call.Node]
	switch {
	case !ok:
		c.answerLater(op, c.cfg.Profile.Control, failed(hypervisor.ErrUnreachable, "no node %q", call.Node))
	case h.has(PowerLoss) || h.has(Partition) || h.has(DaemonKilled):
		c.answerLater(op, connectTime, h.answers())
	case h.has(Freeze):
		h.queued = append(h.queued, op.Serial)
	default:
		c.execute(op)
	}
	c.settle()
}

// execute lets the node take up a call that has reached it.
func (c *Cluster) execute(op *operation) {
	if f := c.spoil(op); f != nil {
		c.answerLater(op, c.cfg.Profile.Control, f)
		return
	}
	if op.Hangs && op.Call.Verb != hypervisor.Boot {
		c.plan(c.hangs(), event{Kind: evWake, Op: op.Serial})
		return
	}
	c.take(op)
}

// take checks the call against what is there and starts it.
func (c *Cluster) take(op *operation) {
	op.Taken = true
	var d time.Duration
	var f *failure
	switch op.Call.Verb {
	case hypervisor.Boot:
		d, f = c.startBoot(op)
	case hypervisor.Shutdown, hypervisor.Abort, hypervisor.Revoke, hypervisor.Discard:
		d = c.cfg.Profile.Control
	case hypervisor.Destroy:
		d = c.cfg.Profile.Destroy
	case hypervisor.Pause:
		d = c.cfg.Profile.Pause
	case hypervisor.Cap:
		d = c.cfg.Profile.Control
	case hypervisor.Unpause:
		d, f = c.startUnpause(op)
	case hypervisor.Save:
		d, f = c.startSave(op)
	case hypervisor.Seal:
		d, f = c.startSeal(op)
	case hypervisor.Restore:
		d, f = c.startRestore(op)
	case hypervisor.Migrate:
		d, f = c.startMigrate(op)
	default:
		f = failed(hypervisor.ErrRefused, "verb %d is not known", op.Call.Verb)
	}
	switch {
	case op.Waits:
	case f != nil:
		c.answerLater(op, c.cfg.Profile.Control, f)
	default:
		if op.Slow {
			d *= slowFactor
		}
		if op.Call.Verb != hypervisor.Boot { // whose duration the guest knows already
			d = c.spread(d)
		}
		c.plan(d, event{Kind: evFinish, Op: op.Serial})
	}
}

// finish lets a call take effect, or be stopped by a frozen node until it thaws.
func (c *Cluster) finish(op *operation) {
	h := c.hosts[op.Call.Node]
	if h.has(Freeze) {
		h.queued = append(h.queued, op.Serial)
		return
	}
	var r hypervisor.Receipt
	var f *failure
	switch op.Call.Verb {
	case hypervisor.Boot:
		f = c.finishBoot(op)
	case hypervisor.Shutdown:
		f = c.finishShutdown(op)
	case hypervisor.Destroy:
		f = c.finishDestroy(op)
	case hypervisor.Pause:
		f = c.finishPause(op)
	case hypervisor.Unpause:
		f = c.finishUnpause(op)
	case hypervisor.Save:
		f = c.finishSave(op)
	case hypervisor.Seal:
		r, f = c.finishSeal(op)
	case hypervisor.Restore:
		f = c.finishRestore(op)
	case hypervisor.Revoke:
		f = c.finishRevoke(op)
	case hypervisor.Discard:
		f = c.finishDiscard(op)
	case hypervisor.Migrate:
		if f = c.finishMigrate(op); f == nil {
			return
		}
	case hypervisor.Abort:
		f = c.finishAbort(op)
	case hypervisor.Cap:
		f = c.finishCap(op)
	}
	c.end(op, r, f)
}

// resume goes on with what waited for a frozen node.
func (c *Cluster) resume(serial int64) {
	switch op := c.ops[serial]; {
	case op == nil || op.Over:
	case op.Taken:
		c.finish(op)
	default:
		c.execute(op)
	}
}

// answerLater prepares an answer for a call that has no effect.
func (c *Cluster) answerLater(op *operation, in time.Duration, f *failure) {
	op.Prepared, op.Over = f, true
	c.plan(in, event{Kind: evReply, Op: op.Serial})
}

// end says that the call has no more effect, and answers it.
func (c *Cluster) end(op *operation, r hypervisor.Receipt, f *failure) {
	if c.ops[op.Serial] == nil {
		return
	}
	delete(c.ops, op.Serial)
	if op.Lost == LostError && f == nil {
		f = failed(hypervisor.ErrUnreachable, "%s %s on %s: connection reset", op.Call.Verb, op.Call.VM, op.Call.Node)
	}
	if op.Lost == LostSilent {
		return
	}
	c.answer(op, r, f)
}

// answer tells the caller, once.
func (c *Cluster) answer(op *operation, r hypervisor.Receipt, f *failure) {
	if op.Answered {
		return
	}
	op.Answered = true
	if f != nil {
		r = hypervisor.Receipt{}
	}
	c.out = append(c.out, Happening{At: c.Now(), Reply: &Reply{
		Op: op.Call.Op, Receipt: r, Err: f.err(), Began: c.at(op.Began), Ended: c.Now(),
	}})
}

// underWay lists the operations that a node is carrying out, in order.
func (c *Cluster) underWay(h *host) []*operation {
	var list []*operation
	for _, op := range c.ops {
		if op.Call.Node == h.ID {
			list = append(list, op)
		}
	}
	slices.SortFunc(list, func(a, b *operation) int { return int(a.Serial - b.Serial) })
	return list
}

// waitForJob lets a call wait until the job of a copy ends.
func (c *Cluster) waitForJob(op *operation, m *machine) {
	op.Waits = true
	m.Waiters = append(m.Waiters, op.Serial)
	c.plan(jobLockWait, event{Kind: evLockWait, Op: op.Serial})
}

// wakeWaiters takes up the calls that waited for the job of a copy.
func (c *Cluster) wakeWaiters(m *machine) {
	waiters := m.Waiters
	m.Waiters = nil
	for _, serial := range waiters {
		if op := c.ops[serial]; op != nil {
			op.Waits = false
			c.take(op)
		}
	}
}

// lockWaitOver gives up a call that waited for too long.
func (c *Cluster) lockWaitOver(op *operation) {
	if !op.Waits {
		return
	}
	if m := c.on(op.Call.Node, op.Call.VM); m != nil {
		m.Waiters = slices.DeleteFunc(m.Waiters, func(s int64) bool { return s == op.Serial })
	}
	c.end(op, hypervisor.Receipt{}, failed(hypervisor.ErrRefused, "%s %s on %s: cannot acquire state change lock",
		op.Call.Verb, op.Call.VM, op.Call.Node))
}
