package simulated

import (
	"time"

	"vjob/hypervisor"
)

// present returns the copy that a call is about.
func (c *Cluster) present(op *operation) (*machine, *failure) {
	if m := c.on(op.Call.Node, op.Call.VM); m != nil {
		return m, nil
	}
	return nil, failed(hypervisor.ErrNoSuchVM, "%s %s on %s", op.Call.Verb, op.Call.VM, op.Call.Node)
}

// refuse says why a call is not done.
func refuse(op *operation, why string) *failure {
	return failed(hypervisor.ErrRefused, "%s %s on %s: %s", op.Call.Verb, op.Call.VM, op.Call.Node, why)
}

// locked says that a lock elsewhere forbids the call.
func locked(op *operation, holder *machine) *failure {
	return failed(hypervisor.ErrLocked, "%s %s on %s: resource busy: held on %s",
		op.Call.Verb, op.Call.VM, op.Call.Node, holder.Node)
}

// startBoot creates the copy at once, so that a look shows it; the guest works
// when it has booted.
func (c *Cluster) startBoot(op *operation) (time.Duration, *failure) {
	call := &op.Call
	h := c.hosts[call.Node]
	if h.copies[call.VM] != nil {
		return 0, failed(hypervisor.ErrExists, "boot %s on %s", call.VM, call.Node)
	}
	if call.Machine == nil {
		return 0, refuse(op, "no machine is described")
	}
	if f := h.room(call.Machine.Reserved.Memory); f != nil {
		return 0, f
	}
	if o := c.holder(call.VM, call.Node); o != nil {
		return 0, locked(op, o)
	}
	d := c.spread(c.cfg.Profile.Boot)
	m := &machine{VM: call.VM, Node: call.Node, State: hypervisor.CopyRunning, Cap: call.Cap, Mem: memory{
		Stamp: call.Stamp, Spec: call.Machine, Stage: booting, Length: d,
	}}
	if op.Hangs {
		c.stick(m, op)
		return c.hangs(), nil
	}
	c.add(m)
	c.powerUp(m)
	return d, nil
}

// powerUp lets the guest of a new copy run.
func (c *Cluster) powerUp(m *machine) {
	c.print(m, "power on, incarnation %d", m.Mem.Stamp.Incarnation)
	before := c.epochs[m.disk()]
	c.start(m)
	c.tell(Change{Kind: Booted, VM: m.VM, Node: m.Node, DiskEpoch: before}, &m.Mem)
}

func (c *Cluster) finishBoot(op *operation) *failure {
	m, f := c.present(op)
	if f == nil && m.Op == op.Serial {
		return c.unstick(m, op)
	}
	return f
}

// finishShutdown asks the guest; it takes its time to follow.
func (c *Cluster) finishShutdown(op *operation) *failure {
	m, f := c.present(op)
	switch {
	case f != nil:
		return f
	case m.State != hypervisor.CopyRunning:
		return refuse(op, "domain is not running") // lab §6: code 55
	case m.Mem.Stage != stopping:
		c.accrue(m)
		m.Mem.Stage, m.Mem.Done, m.Mem.Length = stopping, 0, c.spread(c.cfg.Profile.Shutdown)
		c.print(m, "power button")
		c.touch(m)
	}
	return nil
}

// finishDestroy ends the copy, whatever it was doing.
func (c *Cluster) finishDestroy(op *operation) *failure {
	m, f := c.present(op)
	if f != nil {
		return f
	}
	c.cancelJobs(m, failed(hypervisor.ErrNoSuchVM, "%s on %s was destroyed", m.VM, m.Node))
	if c.on(m.Node, m.VM) != m {
		return nil // it went with its job
	}
	c.drop(m)
	c.tell(Change{Kind: Destroyed, VM: m.VM, Node: m.Node}, &m.Mem)
	return nil
}

// finishPause stops the copy. Pausing a paused one is fine; a pause in the middle
// of a live migration is forgotten when that ends (lab §6).
func (c *Cluster) finishPause(op *operation) *failure {
	m, f := c.present(op)
	switch {
	case f != nil:
		return f
	case m.State == hypervisor.CopyDead:
		return refuse(op, "domain is not running")
	case m.Stubborn:
		return refuse(op, "the monitor does not answer")
	case m.State == hypervisor.CopyRunning:
		c.stop(m, hypervisor.CopyPaused)
		c.tell(Change{Kind: Paused, VM: m.VM, Node: m.Node}, &m.Mem)
	}
	return nil
}

func (c *Cluster) startUnpause(op *operation) (time.Duration, *failure) {
	m, f := c.present(op)
	if f == nil && m.Op != 0 {
		c.waitForJob(op, m)
	}
	return c.cfg.Profile.Unpause, f
}

// finishUnpause lets the copy go on, unless a lock elsewhere forbids it.
func (c *Cluster) finishUnpause(op *operation) *failure {
	m, f := c.present(op)
	switch {
	case f != nil:
		return f
	case m.State != hypervisor.CopyPaused:
		return refuse(op, "domain is already "+m.State.String()) // lab §6: code 55
	case m.Op != 0:
		return refuse(op, "cannot acquire state change lock")
	}
	if o := c.holder(m.VM, m.Node); o != nil {
		return locked(op, o)
	}
	c.unpause(m)
	return nil
}

// unpause lets a paused copy run.
func (c *Cluster) unpause(m *machine) {
	change := Change{
		Kind: Unpaused, VM: m.VM, Node: m.Node,
		MemoryEpoch: m.Mem.Epoch, DiskEpoch: c.epochs[m.disk()], Half: m.Half,
	}
	if m.Half { // the hypervisor does not know better
		c.whole(m)
		m.Mem.Corrupt = true
	}
	m.Unlocked = false
	c.start(m)
	c.tell(change, &m.Mem)
	if change.Half {
		c.panics(m) // what is missing of its memory is garbage
	}
}

// finishAbort cancels the job that the copy's node has under way.
func (c *Cluster) finishAbort(op *operation) *failure {
	m, f := c.present(op)
	switch {
	case f != nil:
		return f
	case m.Job == hypervisor.JobSaving:
		// Lab §6: aborting leaves the partial file of a running VM; row 6f: not that
		// of a paused one.
		saving := c.ops[m.Op]
		c.cancelSave(m, saving.Ran, refuse(saving, "aborted"))
	case m.Job == hypervisor.JobOutgoing:
		c.cancelMigrate(c.ops[m.Op], refuse(c.ops[m.Op], "aborted"))
	case m.Half:
		c.undo(m, refuse(op, "aborted"))
	default:
		return refuse(op, "no job that can be aborted is active")
	}
	return nil
}

// cancelJobs ends whatever is under way on a copy that is about to vanish.
func (c *Cluster) cancelJobs(m *machine, why *failure) {
	op := c.ops[m.Op]
	if op == nil {
		c.whole(m) // no operation waits for what is on it
		return
	}
	switch m.Job {
	case hypervisor.JobSaving:
		m.Job, m.Op = hypervisor.JobNone, 0
		c.tear(op.Call.Image) // row 6c: the file is removed
		c.end(op, hypervisor.Receipt{}, why)
	case hypervisor.JobRestoring:
		c.whole(m)
		c.end(op, hypervisor.Receipt{}, why)
	case hypervisor.JobOutgoing, hypervisor.JobIncoming:
		c.cancelMigrate(op, why)
	case hypervisor.JobNone, hypervisor.JobUnknown:
	}
}
