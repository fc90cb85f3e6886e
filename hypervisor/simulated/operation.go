package simulated

import (
	"slices"
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
	op := c.ops.add(call)
	n, ok := c.nodes.byID[call.Node]
	switch {
	case !ok:
		c.ops.answerLater(op, c.profile.Control, newFailure(hypervisor.ErrUnreachable, "no node %q", call.Node))
	case n.has(PowerLoss) || n.has(Partition) || n.has(DaemonKilled):
		c.ops.answerLater(op, connectTime, n.unreachable())
	case n.has(Freeze):
		n.queued = append(n.queued, op.Serial)
	default:
		c.execute(op)
	}
	c.propagate()
}

// execute begins a call that has reached its node.
func (c *Cluster) execute(op *operation) {
	if f := c.faults.apply(op); f != nil {
		c.ops.answerLater(op, c.profile.Control, f)
		return
	}
	if op.Hangs && op.Call.Verb != hypervisor.Boot {
		c.clock.schedule(c.hangTime(), event{Kind: evResume, Op: op.Serial})
		return
	}
	c.start(op)
}

// start checks whether the call is possible and starts it.
func (c *Cluster) start(op *operation) {
	op.Started = true
	var d time.Duration
	var f *failure
	switch op.Call.Verb {
	case hypervisor.Boot:
		d, f = c.startBoot(op)
	case hypervisor.Shutdown, hypervisor.Abort, hypervisor.Revoke, hypervisor.Discard:
		d = c.profile.Control
	case hypervisor.Destroy:
		d = c.profile.Destroy
	case hypervisor.Pause:
		d = c.profile.Pause
	case hypervisor.Cap:
		d = c.profile.Control
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
		f = newFailure(hypervisor.ErrRefused, "verb %d is not known", op.Call.Verb)
	}
	switch {
	case op.Waits:
	case f != nil:
		c.ops.answerLater(op, c.profile.Control, f)
	default:
		if op.Slow {
			d *= slowFactor
		}
		if op.Call.Verb != hypervisor.Boot { // the guest has drawn its boot time already
			d = c.random.jitter(d)
		}
		c.clock.schedule(d, event{Kind: evFinish, Op: op.Serial})
	}
}

// finish lets a call take effect, unless its node is frozen: then it waits for the thaw.
func (c *Cluster) finish(op *operation) {
	n := c.nodes.byID[op.Call.Node]
	if n.has(Freeze) {
		n.queued = append(n.queued, op.Serial)
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
		r, f = c.store.seal(op)
	case hypervisor.Restore:
		f = c.finishRestore(op)
	case hypervisor.Revoke:
		f = c.store.revoke(op)
	case hypervisor.Discard:
		f = c.store.discard(op)
	case hypervisor.Migrate:
		if f = c.finishMigrate(op); f == nil {
			return
		}
	case hypervisor.Abort:
		f = c.finishAbort(op)
	case hypervisor.Cap:
		f = c.finishCap(op)
	}
	c.ops.end(op, r, f)
}

// resume continues an operation that waited for a frozen node.
func (c *Cluster) resume(serial int64) {
	switch op := c.ops.byID[serial]; {
	case op == nil || op.Over:
	case op.Started:
		c.finish(op)
	default:
		c.execute(op)
	}
}

// waitForJob lets a call wait until the job of a copy ends.
func (c *Cluster) waitForJob(op *operation, m *machine) {
	op.Waits = true
	m.Waiters = append(m.Waiters, op.Serial)
	c.clock.schedule(jobLockWait, event{Kind: evLockWait, Op: op.Serial})
}

// wakeWaiters starts the calls that waited for the job of a copy.
func (c *Cluster) wakeWaiters(m *machine) {
	waiters := m.Waiters
	m.Waiters = nil
	for _, serial := range waiters {
		if op := c.ops.byID[serial]; op != nil {
			op.Waits = false
			c.start(op)
		}
	}
}

// lockWaitOver ends a call that has waited for too long.
func (c *Cluster) lockWaitOver(op *operation) {
	if !op.Waits {
		return
	}
	if m := c.nodes.at(op.Call.Node, op.Call.VM); m != nil {
		m.Waiters = slices.DeleteFunc(m.Waiters, func(s int64) bool { return s == op.Serial })
	}
	c.ops.end(op, hypervisor.Receipt{}, newFailure(hypervisor.ErrRefused, "%s %s on %s: cannot acquire state change lock",
		op.Call.Verb, op.Call.VM, op.Call.Node))
}
