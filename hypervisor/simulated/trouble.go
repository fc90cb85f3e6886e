package simulated

import (
	"vjob/hypervisor"
)

// troubleNode lets a fault of a node begin.
func (c *Cluster) troubleNode(h *host, f Fault) {
	if f.Kind == LockdKilled {
		for _, m := range h.sorted() {
			m.Unlocked = true
		}
		return
	}
	t := &h.troubles[f.Kind]
	t.Version++
	if f.For > 0 {
		c.plan(f.For, event{Kind: evMend, Node: h.ID, Fault: f.Kind, Version: t.Version})
	}
	if t.On {
		return
	}
	// Losing the connection tells the controller at once (lab §6: close callback).
	if f.Kind <= DaemonKilled && h.answers() == nil {
		c.hint(h)
		c.flushHints()
	}
	t.On = true
	c.tell(Change{Kind: Troubled, Node: h.ID, Fault: f.Kind}, nil)
	switch f.Kind {
	case PowerLoss:
		c.powerOff(h)
	case Partition:
		for _, op := range c.underWay(h) {
			c.answer(op, hypervisor.Receipt{}, failed(hypervisor.ErrUnreachable, "node %s: connection lost", h.ID))
		}
	case DaemonKilled:
		c.killDaemon(h)
	case StoreStale:
		h.listing = c.saved(h)
	default: // the others show when something is tried
	}
}

// mend ends a lasting fault of a node.
func (c *Cluster) mend(h *host, k FaultKind) {
	t := &h.troubles[k]
	if !t.On {
		return
	}
	t.On = false
	t.Version++
	c.tell(Change{Kind: Mended, Node: h.ID, Fault: k}, nil)
	switch k {
	case Freeze:
		c.thaw(h)
	case StoreStale:
		h.listing = nil
	default:
	}
	h.hinted = false // whatever was kept back comes out now
	c.hint(h)
}

// thaw carries out all that has waited, in order.
func (c *Cluster) thaw(h *host) {
	queued := h.queued
	h.queued = nil
	for _, serial := range queued {
		c.resume(serial)
	}
}

// dropWaiting ends, with the daemon, the calls that it has not begun.
func (c *Cluster) dropWaiting(h *host, why *failure) {
	h.queued = nil
	h.troubles[Freeze].On = false
	for _, op := range c.underWay(h) {
		if !op.Taken || op.Waits {
			c.end(op, hypervisor.Receipt{}, why)
		}
	}
}

// powerOff loses everything that the node did not write down.
func (c *Cluster) powerOff(h *host) {
	gone := failed(hypervisor.ErrUnreachable, "node %s: connection lost", h.ID)
	h.troubles[DaemonKilled].On = false
	c.dropWaiting(h, gone)
	for _, m := range h.sorted() {
		op := c.ops[m.Op]
		if op != nil && (m.Job == hypervisor.JobOutgoing || m.Job == hypervisor.JobIncoming) {
			c.cancelMigrate(op, gone)
		} else { // of a save a partial file stays
			c.whole(m)
		}
		if h.copies[m.VM] == m {
			c.drop(m)
			c.tell(Change{Kind: Lost, VM: m.VM, Node: m.Node}, &m.Mem)
		}
	}
	for _, op := range c.underWay(h) {
		if !op.Over {
			c.answerLater(op, keepalive, gone)
		}
	}
	for _, i := range c.sortedImages() {
		if i.Node == h.ID && i.Complete && !i.Durable && c.happens(tornUnsealed) {
			// Its data was synced before the header said that it is complete: what a
			// loss of power can take is the header.
			i.Complete = false
			c.tell(Change{Kind: Spoiled, VM: i.ID.VM, Node: i.Node, Image: i.ID}, &i.Mem)
		}
	}
}

// killDaemon ends the calls that the node's daemon carries out, as the lab saw
// it: a save leaves its partial file and the VM as it was (6a, 6b), a restore
// leaves nothing, a migration leaves the source (M3, M4, M7); unless a copy that is not
// whole is left, see [HalfLeft]. Of the small calls some were done and some were not.
func (c *Cluster) killDaemon(h *host) {
	gone := failed(hypervisor.ErrUnreachable, "node %s: end of file while reading data", h.ID)
	c.dropWaiting(h, gone)
	for _, m := range h.sorted() {
		op := c.ops[m.Op]
		if op == nil || c.leftHalf(m, op, gone) {
			continue
		}
		switch m.Job {
		case hypervisor.JobSaving:
			c.cancelSave(m, true, gone)
		case hypervisor.JobRestoring:
			c.undo(m, gone)
		case hypervisor.JobOutgoing, hypervisor.JobIncoming:
			c.cancelMigrate(op, gone)
		case hypervisor.JobNone, hypervisor.JobUnknown:
		}
	}
	for _, op := range c.underWay(h) {
		if op.Over {
			continue
		}
		if op.Taken && !op.Waits && c.happens(doneBeforeKill) {
			op.Lost = LostError
			c.finish(op)
			continue
		}
		c.end(op, hypervisor.Receipt{}, gone)
	}
}
