package simulated

import (
	"time"

	"vjob/hypervisor"
)

// refuse is the failure of a call that is refused.
func refuse(op *operation, why string) *failure {
	return newFailure(hypervisor.ErrRefused, "%s %s on %s: %s", op.Call.Verb, op.Call.VM, op.Call.Node, why)
}

// locked is the failure of a call that a lock on another node prevents.
func locked(op *operation, holder *machine) *failure {
	return newFailure(hypervisor.ErrLocked, "%s %s on %s: resource busy: held on %s",
		op.Call.Verb, op.Call.VM, op.Call.Node, holder.Node)
}

// startBoot creates the copy at once, so that looks show it; the guest works after its boot.
func (c *Cluster) startBoot(op *operation) (time.Duration, *failure) {
	call := &op.Call
	n := c.nodes.byID[call.Node]
	if n.copies[call.VM] != nil {
		return 0, newFailure(hypervisor.ErrExists, "boot %s on %s", call.VM, call.Node)
	}
	if call.Machine == nil {
		return 0, refuse(op, "no machine is described")
	}
	if f := n.memoryFailure(call.Machine.Reserved.Memory); f != nil {
		return 0, f
	}
	if o := c.nodes.lockHolder(call.VM, call.Node); o != nil {
		return 0, locked(op, o)
	}
	d := c.random.jitter(c.profile.Boot)
	m := &machine{VM: call.VM, Node: call.Node, State: hypervisor.CopyRunning, Cap: call.Cap, Memory: memory{
		Stamp: call.Stamp, Spec: call.Machine, Stage: booting, Length: d,
	}}
	if op.Hangs {
		c.startHungBoot(m, op)
		return c.hangTime(), nil
	}
	c.guests.add(m)
	c.powerUp(m)
	return d, nil
}

// powerUp starts the guest of a new copy.
func (c *Cluster) powerUp(m *machine) {
	c.guests.consoles.print(m, "power on, incarnation %d", m.Memory.Stamp.Incarnation)
	before := c.guests.epochs[m.disk()]
	c.guests.run(m)
	c.observer.report(Change{Kind: Booted, VM: m.VM, Node: m.Node, DiskEpoch: before}, &m.Memory)
}

func (c *Cluster) finishBoot(op *operation) *failure {
	m, f := c.nodes.present(op)
	if f == nil && m.Op == op.Serial {
		return c.finishHungBoot(m, op)
	}
	return f
}

// finishShutdown asks the guest to shut down, which takes time.
func (c *Cluster) finishShutdown(op *operation) *failure {
	m, f := c.nodes.present(op)
	switch {
	case f != nil:
		return f
	case m.State != hypervisor.CopyRunning:
		return refuse(op, "domain is not running") // lab §6: code 55
	case m.Memory.Stage != stopping:
		m.accrue(c.clock.now)
		c.guests.beginShutdown(m)
		c.guests.consoles.print(m, "power button")
		c.guests.mark(m)
	}
	return nil
}

// finishDestroy ends the copy and its job.
func (c *Cluster) finishDestroy(op *operation) *failure {
	m, f := c.nodes.present(op)
	if f != nil {
		return f
	}
	c.cancelJobs(m, newFailure(hypervisor.ErrNoSuchVM, "%s on %s was destroyed", m.VM, m.Node))
	if c.nodes.at(m.Node, m.VM) != m {
		return nil // the copy ended with its job
	}
	c.removeCopy(m)
	c.observer.report(Change{Kind: Destroyed, VM: m.VM, Node: m.Node}, &m.Memory)
	return nil
}

// finishPause stops the copy. Pausing a paused copy is no failure; a pause during a live
// migration is lost when the migration ends (lab §6).
func (c *Cluster) finishPause(op *operation) *failure {
	m, f := c.nodes.present(op)
	switch {
	case f != nil:
		return f
	case m.State == hypervisor.CopyDead:
		return refuse(op, "domain is not running")
	case m.Unpausable:
		return refuse(op, "the monitor does not answer")
	case m.State == hypervisor.CopyRunning:
		c.guests.stop(m, hypervisor.CopyPaused)
		c.observer.report(Change{Kind: Paused, VM: m.VM, Node: m.Node}, &m.Memory)
	}
	return nil
}

func (c *Cluster) startUnpause(op *operation) (time.Duration, *failure) {
	m, f := c.nodes.present(op)
	if f == nil && m.Op != 0 {
		c.waitForJob(op, m)
	}
	return c.profile.Unpause, f
}

// finishUnpause lets the copy continue, unless a lock on another node prevents it.
func (c *Cluster) finishUnpause(op *operation) *failure {
	m, f := c.nodes.present(op)
	switch {
	case f != nil:
		return f
	case m.State != hypervisor.CopyPaused:
		return refuse(op, "domain is already "+m.State.String()) // lab §6: code 55
	case m.Op != 0:
		return refuse(op, "cannot acquire state change lock")
	}
	if o := c.nodes.lockHolder(m.VM, m.Node); o != nil {
		return locked(op, o)
	}
	c.unpause(m)
	return nil
}

// unpause lets a paused copy run.
func (c *Cluster) unpause(m *machine) {
	change := Change{
		Kind: Unpaused, VM: m.VM, Node: m.Node,
		MemoryEpoch: m.Memory.Epoch, DiskEpoch: c.guests.epochs[m.disk()], Incomplete: m.Incomplete,
	}
	if m.Incomplete { // the hypervisor does not notice
		m.complete()
		m.Memory.Corrupt = true
	}
	m.Unlocked = false
	c.guests.run(m)
	c.observer.report(change, &m.Memory)
	if change.Incomplete {
		c.panicGuest(m) // the missing part of its memory is garbage
	}
}

// finishAbort cancels the job of the copy.
func (c *Cluster) finishAbort(op *operation) *failure {
	m, f := c.nodes.present(op)
	switch {
	case f != nil:
		return f
	case m.Job == hypervisor.JobSaving:
		// Lab §6: aborting leaves the partial file of a running VM; row 6f: not that
		// of a paused one.
		saving := c.ops.jobOf(m)
		c.cancelSave(m, saving.Ran, refuse(saving, "aborted"))
	case m.Job == hypervisor.JobOutgoing:
		c.cancelMigrate(c.ops.jobOf(m), refuse(c.ops.jobOf(m), "aborted"))
	case m.Incomplete:
		c.removeIncomplete(m, refuse(op, "aborted"))
	default:
		return refuse(op, "no job that can be aborted is active")
	}
	return nil
}

// cancelJobs ends the job of a copy that is about to be removed.
func (c *Cluster) cancelJobs(m *machine, why *failure) {
	op := c.ops.jobOf(m)
	if op == nil {
		m.complete() // no operation is waiting for it
		return
	}
	switch m.Job {
	case hypervisor.JobSaving:
		m.Job, m.Op = hypervisor.JobNone, 0
		c.store.removePartial(op.Call.Image) // row 6c: the file is removed
		c.ops.end(op, hypervisor.Receipt{}, why)
	case hypervisor.JobRestoring:
		m.complete()
		c.ops.end(op, hypervisor.Receipt{}, why)
	case hypervisor.JobOutgoing, hypervisor.JobIncoming:
		c.cancelMigrate(op, why)
	case hypervisor.JobNone, hypervisor.JobUnknown:
	}
}
