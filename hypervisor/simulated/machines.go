package simulated

import (
	"slices"

	"vjob/hypervisor"
)

// machines starts, stops and removes copies. It ends their jobs together with the operations that
// began them.
type machines struct {
	touched  *touched
	clock    *clock
	nodes    *nodes
	outbox   *outbox
	observer *observer
	guests   *guests
	store    *imageStore
	ops      *operations
	start    func(*operation) // starts an operation that waited for the end of a job
}

// powerUp starts the guest of a new copy.
func (ms *machines) powerUp(m *machine) {
	ms.guests.consoles.print(m, "power on, incarnation %d", m.Memory.Stamp.Incarnation)
	before := ms.guests.epochs[m.disk()]
	ms.guests.run(m)
	ms.observer.report(Change{Kind: Booted, VM: m.VM, Node: m.Node, DiskEpoch: before}, &m.Memory)
}

// unpause lets a paused copy run.
func (ms *machines) unpause(m *machine) {
	change := Change{
		Kind: Unpaused, VM: m.VM, Node: m.Node,
		MemoryEpoch: m.Memory.Epoch, DiskEpoch: ms.guests.epochs[m.disk()], Incomplete: m.Incomplete,
	}
	if m.Incomplete { // the hypervisor does not notice
		m.clearJob()
		m.Memory.Corrupt = true
	}
	m.Unlocked = false
	ms.guests.run(m)
	ms.observer.report(change, &m.Memory)
	if change.Incomplete {
		ms.kernelPanic(m) // the missing part of its memory is garbage
	}
}

// remove removes a copy and starts the calls that waited for it. Its job must have ended
// before.
func (ms *machines) remove(m *machine) {
	ms.guests.remove(m)
	ms.wake(m)
}

// endGuest removes the copy of a guest that has ended.
func (ms *machines) endGuest(m *machine, cause hypervisor.Cause) {
	n := ms.nodes.of(m)
	ms.cancelJob(m, newFailure(hypervisor.ErrNoSuchVM, "%s on %s: domain is not running", m.VM, m.Node))
	ms.guests.printEnd(m, cause.String())
	n.recordEnding(m, cause, ms.clock.time())
	ms.remove(m)
	ms.observer.report(Change{Kind: Ended, VM: m.VM, Node: m.Node, Cause: cause, Exit: m.Memory.Exit}, &m.Memory)
}

// kernelPanic turns a copy into a dead copy.
func (ms *machines) kernelPanic(m *machine) {
	ms.guests.consoles.print(m, "panic")
	ms.guests.stop(m, hypervisor.CopyDead)
	m.Demand = 0
	ms.nodes.of(m).recordEnding(m, hypervisor.CauseCrashed, ms.clock.time())
	ms.observer.report(Change{Kind: Ended, VM: m.VM, Node: m.Node, Cause: hypervisor.CauseCrashed}, &m.Memory)
	ms.wake(m)
}

// beginJob gives the copy a job.
func (ms *machines) beginJob(m *machine, j hypervisor.Job, op *operation) {
	ms.touched.vms.add(m.VM)
	m.Job, m.Op = j, op.Serial
	switch j {
	case hypervisor.JobSaving, hypervisor.JobOutgoing:
		m.LastJob = j
	case hypervisor.JobRestoring, hypervisor.JobIncoming:
		m.Incomplete = true
	case hypervisor.JobNone, hypervisor.JobUnknown:
	}
	ms.outbox.hint(ms.nodes.of(m))
}

// endJob ends the copy's job and starts the operations that waited for it.
func (ms *machines) endJob(m *machine) {
	ms.touched.vms.add(m.VM)
	m.clearJob()
	ms.outbox.hint(ms.nodes.of(m))
	ms.wake(m)
}

// cancelJob ends the job of a copy that is about to be removed.
func (ms *machines) cancelJob(m *machine, why *failure) {
	op := ms.ops.jobOf(m)
	if op == nil {
		m.clearJob() // no operation is waiting for it
		return
	}
	switch m.Job {
	case hypervisor.JobSaving:
		m.clearJob()
		ms.store.removePartial(op.Call.Image) // row 6c: the file is removed
		ms.ops.end(op, hypervisor.Receipt{}, why)
	case hypervisor.JobRestoring:
		m.clearJob()
		ms.ops.end(op, hypervisor.Receipt{}, why)
	case hypervisor.JobOutgoing, hypervisor.JobIncoming:
		ms.cancelMigrate(op, why)
	case hypervisor.JobNone, hypervisor.JobUnknown:
	}
}

// cancelSave ends a failed save: the partial file stays or is removed, and the copy returns to
// its state before the save.
func (ms *machines) cancelSave(m *machine, leave bool, why *failure) {
	op := ms.ops.jobOf(m)
	if leave {
		ms.store.keepPartial(op.Call.Image, m)
	} else {
		ms.store.removePartial(op.Call.Image)
	}
	ms.endJob(m)
	if op.WasRunning && m.State == hypervisor.CopyPaused && ms.nodes.lockHolder(m.VM, m.Node) == nil {
		ms.unpause(m)
	}
	ms.ops.end(op, hypervisor.Receipt{}, why)
}

// cancelMigrate ends a failed migration: the source keeps the VM.
func (ms *machines) cancelMigrate(op *operation, why *failure) {
	from, to := ms.nodes.at(op.Call.Node, op.Call.VM), ms.nodes.at(op.Call.To, op.Call.VM)
	if to != nil && to.Op == op.Serial {
		to.clearJob()
		ms.remove(to)
		ms.observer.report(Change{Kind: Destroyed, VM: to.VM, Node: to.Node}, &to.Memory)
	}
	if from != nil && from.Op == op.Serial {
		ms.endJob(from)
	}
	ms.ops.end(op, hypervisor.Receipt{}, why)
}

// removeIncomplete removes an incomplete copy and answers the call that created it.
func (ms *machines) removeIncomplete(m *machine, why *failure) {
	op := ms.ops.jobOf(m)
	if op != nil && op.Call.Verb == hypervisor.Migrate {
		ms.cancelMigrate(op, why)
		return
	}
	m.clearJob()
	ms.remove(m)
	ms.observer.report(Change{Kind: Destroyed, VM: m.VM, Node: m.Node}, &m.Memory)
	if op != nil {
		ms.ops.end(op, hypervisor.Receipt{}, why)
	}
}

// loaded ends an orphaned restore.
func (ms *machines) loaded(m *machine) {
	if l := m.Loading; l.Refused == nil {
		ms.endJob(m)
		ms.observer.report(Change{Kind: Restored, VM: m.VM, Node: m.Node, Image: l.Image, Attempt: l.Attempt}, &m.Memory)
		return
	}
	ms.removeIncomplete(m, m.Loading.Refused)
}

// wait lets a call wait until the job of a copy ends.
func (ms *machines) wait(op *operation, m *machine) {
	ms.touched.vms.add(m.VM)
	ms.ops.touch(op)
	op.Waits = true
	m.Waiters = append(m.Waiters, op.Serial)
	ms.clock.schedule(jobLockWait, event{Kind: evLockWait, Op: op.Serial})
}

// waitedTooLong ends a call that has waited for too long.
func (ms *machines) waitedTooLong(op *operation) {
	if !op.Waits {
		return
	}
	if m := ms.nodes.at(op.Call.Node, op.Call.VM); m != nil {
		ms.touched.vms.add(m.VM)
		m.Waiters = slices.DeleteFunc(m.Waiters, func(s int64) bool { return s == op.Serial })
	}
	ms.ops.end(op, hypervisor.Receipt{}, newFailure(hypervisor.ErrRefused, "%s %s on %s: cannot acquire state change lock",
		op.Call.Verb, op.Call.VM, op.Call.Node))
}

// wake starts the calls that waited for the job of a copy.
func (ms *machines) wake(m *machine) {
	waiters := m.Waiters
	m.Waiters = nil
	for _, serial := range waiters {
		if op := ms.ops.byID[serial]; op != nil {
			op.Waits = false
			ms.start(op)
		}
	}
}
