package simulated

import (
	"vjob/hypervisor"
)

// beginFault begins a fault of a node.
func (c *Cluster) beginFault(n *node, f Fault) {
	if f.Kind == LockdKilled {
		for _, m := range n.sortedCopies() {
			m.Unlocked = true
		}
		return
	}
	t := &n.faults[f.Kind]
	t.Version++
	if f.For > 0 {
		c.clock.schedule(f.For, event{Kind: evFaultEnds, Node: n.ID, Fault: f.Kind, Version: t.Version})
	}
	if t.On {
		return
	}
	// The controller notices a lost connection at once (lab §6: close callback).
	if f.Kind <= DaemonKilled && n.unreachable() == nil {
		c.outbox.hint(n)
		c.outbox.flushHints()
	}
	t.On = true
	c.observer.report(Change{Kind: FaultBegan, Node: n.ID, Fault: f.Kind}, nil)
	switch f.Kind {
	case PowerLoss:
		c.powerOff(n)
	case Partition:
		for _, op := range c.ops.onNode(n) {
			c.ops.answer(op, hypervisor.Receipt{}, newFailure(hypervisor.ErrUnreachable, "node %s: connection lost", n.ID))
		}
	case DaemonKilled:
		c.killDaemon(n)
	case StoreStale:
		n.listing = c.store.savedBy(n)
	default: // the others affect only calls
	}
}

// endFault ends a lasting fault of a node.
func (c *Cluster) endFault(n *node, k FaultKind) {
	t := &n.faults[k]
	if !t.On {
		return
	}
	t.On = false
	t.Version++
	c.observer.report(Change{Kind: FaultEnded, Node: n.ID, Fault: k}, nil)
	switch k {
	case Freeze:
		c.thaw(n)
	case StoreStale:
		n.listing = nil
	default:
	}
	n.hinted = false // send the hint that was held back
	c.outbox.hint(n)
}

// thaw continues the operations that have waited, in order.
func (c *Cluster) thaw(n *node) {
	queued := n.queued
	n.queued = nil
	for _, serial := range queued {
		c.resume(serial)
	}
}

// dropWaiting ends the calls that a dead daemon has not begun.
func (c *Cluster) dropWaiting(n *node, why *failure) {
	n.queued = nil
	n.faults[Freeze].On = false
	for _, op := range c.ops.onNode(n) {
		if !op.Started || op.Waits {
			c.ops.end(op, hypervisor.Receipt{}, why)
		}
	}
}

// powerOff removes all copies of a node, and may tear its unsealed images.
func (c *Cluster) powerOff(n *node) {
	gone := newFailure(hypervisor.ErrUnreachable, "node %s: connection lost", n.ID)
	n.faults[DaemonKilled].On = false
	c.dropWaiting(n, gone)
	for _, m := range n.sortedCopies() {
		op := c.ops.jobOf(m)
		if op != nil && (m.Job == hypervisor.JobOutgoing || m.Job == hypervisor.JobIncoming) {
			c.cancelMigrate(op, gone)
		} else { // a save leaves a partial file
			m.complete()
		}
		if n.copies[m.VM] == m {
			c.removeCopy(m)
			c.observer.report(Change{Kind: Lost, VM: m.VM, Node: m.Node}, &m.Memory)
		}
	}
	for _, op := range c.ops.onNode(n) {
		if !op.Over {
			c.ops.answerLater(op, keepalive, gone)
		}
	}
	c.store.tear(n)
}

// killDaemon ends the calls of the node's daemon, as measured in the lab: a save leaves its
// partial file and the VM as it was (6a, 6b), a restore leaves nothing, a migration leaves the
// source (M3, M4, M7), unless an incomplete copy is left: see [HalfLeft]. Some of the small calls
// have had their effect.
func (c *Cluster) killDaemon(n *node) {
	gone := newFailure(hypervisor.ErrUnreachable, "node %s: end of file while reading data", n.ID)
	c.dropWaiting(n, gone)
	for _, m := range n.sortedCopies() {
		op := c.ops.jobOf(m)
		if op == nil || c.survivesDaemon(m, op, gone) {
			continue
		}
		switch m.Job {
		case hypervisor.JobSaving:
			c.cancelSave(m, true, gone)
		case hypervisor.JobRestoring:
			c.removeIncomplete(m, gone)
		case hypervisor.JobOutgoing, hypervisor.JobIncoming:
			c.cancelMigrate(op, gone)
		case hypervisor.JobNone, hypervisor.JobUnknown:
		}
	}
	for _, op := range c.ops.onNode(n) {
		if op.Over {
			continue
		}
		if op.Started && !op.Waits && c.random.bernoulli(doneBeforeKill) {
			op.Lost = LostError
			c.finish(op)
			continue
		}
		c.ops.end(op, hypervisor.Receipt{}, gone)
	}
}
