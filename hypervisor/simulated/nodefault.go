package simulated

import "vjob/hypervisor"

// doneBeforeKill is the probability that a small call took effect before the daemon was killed.
const doneBeforeKill = 0.5

// beginFault begins a fault of a node.
func (in *injector) beginFault(n *node, f Fault) {
	if f.Kind == LockdKilled {
		for _, m := range n.sortedCopies() {
			m.Unlocked = true
			in.touched.vms.add(m.VM)
		}
		return
	}
	n.touch()
	t := &n.faults[f.Kind]
	t.Version++
	if f.For > 0 {
		in.clock.schedule(f.For, event{Kind: evFaultEnds, Node: n.ID, Fault: f.Kind, Version: t.Version})
	}
	if t.On {
		return
	}
	// The controller notices a lost connection at once (lab §6: close callback).
	if f.Kind <= DaemonKilled && n.unreachable() == nil {
		in.outbox.hint(n)
		in.outbox.flushHints()
	}
	t.On = true
	in.observer.report(Change{Kind: FaultBegan, Node: n.ID, Fault: f.Kind}, nil)
	switch f.Kind {
	case PowerLoss:
		in.powerOff(n)
	case Partition:
		for _, op := range in.ops.onNode(n) {
			in.ops.answer(op, hypervisor.Receipt{}, newFailure(hypervisor.ErrUnreachable, "node %s: connection lost", n.ID))
		}
	case DaemonKilled:
		in.killDaemon(n)
	case StoreStale:
		n.listing = in.store.savedBy(n)
	default: // the others affect only calls
	}
}

// endFault ends a lasting fault of a node.
func (in *injector) endFault(n *node, k FaultKind) {
	t := &n.faults[k]
	if !t.On {
		return
	}
	n.touch()
	t.On = false
	t.Version++
	in.observer.report(Change{Kind: FaultEnded, Node: n.ID, Fault: k}, nil)
	switch k {
	case Freeze:
		in.thaw(n)
	case StoreStale:
		n.listing = nil
	default:
	}
	n.hinted = false // send the hint that was held back
	in.outbox.hint(n)
}

// thaw continues the operations that have waited, in order.
func (in *injector) thaw(n *node) {
	queued := n.queued
	n.queued = nil
	for _, serial := range queued {
		in.executor.resume(serial)
	}
}

// powerOn boots a node, unless [BootFails] is armed for it.
func (in *injector) powerOn(n *node) {
	if n.up() || n.boots(in.clock) || in.faults.take(BootFails, n.ID) {
		return
	}
	n.touch()
	t := &n.faults[PowerLoss]
	t.Version++
	in.clock.schedule(in.random.jitter(in.bootTime), event{Kind: evFaultEnds, Node: n.ID, Fault: PowerLoss, Version: t.Version})
}

// powerOff removes all copies of a node and may tear its unsealed images.
func (in *injector) powerOff(n *node) {
	gone := newFailure(hypervisor.ErrUnreachable, "node %s: connection lost", n.ID)
	n.faults[DaemonKilled].On = false
	in.dropWaiting(n, gone)
	for _, m := range n.sortedCopies() {
		op := in.ops.jobOf(m)
		if op != nil && (m.Job == hypervisor.JobOutgoing || m.Job == hypervisor.JobIncoming) {
			in.machines.cancelMigrate(op, gone)
		} else { // a save leaves a partial file
			m.clearJob()
		}
		if n.copies[m.VM] == m {
			in.machines.remove(m)
			in.observer.report(Change{Kind: Lost, VM: m.VM, Node: m.Node, Exit: m.Memory.Exit}, &m.Memory)
		}
	}
	for _, op := range in.ops.onNode(n) {
		if !op.Over {
			in.ops.answerLater(op, keepalive, gone)
		}
	}
	in.store.tear(n)
}

// killDaemon ends the calls of the node's daemon, as measured in the lab: a save leaves its
// partial file and the VM as it was (6a, 6b), a restore leaves nothing, a migration leaves the
// source (M3, M4, M7). An incomplete copy may be left instead: see [HalfLeft]. Some of the small
// calls have had their effect.
func (in *injector) killDaemon(n *node) {
	gone := newFailure(hypervisor.ErrUnreachable, "node %s: end of file while reading data", n.ID)
	in.dropWaiting(n, gone)
	for _, m := range n.sortedCopies() {
		op := in.ops.jobOf(m)
		if op == nil || in.survivesDaemon(m, op, gone) {
			continue
		}
		switch m.Job {
		case hypervisor.JobSaving:
			in.machines.cancelSave(m, true, gone)
		case hypervisor.JobRestoring:
			in.machines.removeIncomplete(m, gone)
		case hypervisor.JobOutgoing, hypervisor.JobIncoming:
			in.machines.cancelMigrate(op, gone)
		case hypervisor.JobNone, hypervisor.JobUnknown:
		}
	}
	for _, op := range in.ops.onNode(n) {
		if op.Over {
			continue
		}
		if op.Started && !op.Waits && in.random.bernoulli(doneBeforeKill) {
			op.Lost = lostError
			in.executor.finish(op)
			continue
		}
		in.ops.end(op, hypervisor.Receipt{}, gone)
	}
}

// leavesIncomplete reports whether an armed or random [HalfLeft] applies to a copy.
func (in *injector) leavesIncomplete(m *machine) bool {
	return in.faults.take(HalfLeft, m.Node) || in.random.bernoulli(in.faults.rates.HalfLeft)
}

// survivesDaemon reports whether an incomplete copy survives the death of its node's daemon. A
// restore continues to load; an incoming migration never does.
func (in *injector) survivesDaemon(m *machine, op *operation, gone *failure) bool {
	switch {
	case !m.Incomplete || op.Call.Verb == hypervisor.Boot || !in.leavesIncomplete(m):
		return false
	case m.Job == hypervisor.JobIncoming:
		m.Op = 0
		in.touched.vms.add(m.VM)
		in.machines.cancelMigrate(op, gone)
		return true
	}
	in.touched.vms.add(m.VM)
	m.Loading = &orphanLoad{Op: op.Serial, Image: op.Call.Image, Attempt: op.Call.Attempt}
	if op.Cut == cutLoad {
		m.Loading.Refused = loadFailure(in.nodes.of(m), op)
	}
	m.Op = 0
	in.clock.schedule(in.clock.due(op.Serial)-in.clock.now, event{Kind: evLoaded, VM: m.VM, Node: m.Node, Op: op.Serial})
	in.ops.end(op, hypervisor.Receipt{}, gone)
	return true
}

// dropWaiting ends the calls that a dead daemon has not begun.
func (in *injector) dropWaiting(n *node, why *failure) {
	n.queued = nil
	n.faults[Freeze].On = false
	n.touch()
	for _, op := range in.ops.onNode(n) {
		if !op.Started || op.Waits {
			in.ops.end(op, hypervisor.Receipt{}, why)
		}
	}
}
