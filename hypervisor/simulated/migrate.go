package simulated

import (
	"time"

	"vjob/hypervisor"
)

// startMigrate creates the incoming copy: while the transfer lasts the VM is on
// both ends, and takes memory on both (I8).
func (c *Cluster) startMigrate(op *operation) (time.Duration, *failure) {
	m, f := c.present(op)
	if f != nil {
		return 0, f
	}
	to, known := c.hosts[op.Call.To]
	memory := m.Mem.Spec.Reserved.Memory
	switch {
	case m.State == hypervisor.CopyDead:
		return 0, refuse(op, "domain is not running")
	case m.Job != hypervisor.JobNone:
		return 0, refuse(op, "another job is active") // lab §6: code 55
	case !known || to.ID == m.Node:
		return 0, refuse(op, "no such destination")
	case !to.up() || to.has(DaemonKilled):
		return 0, failed(hypervisor.ErrUnreachable, "migrate %s to %s: connection refused", m.VM, to.ID)
	case to.has(Freeze):
		return 0, failed(hypervisor.ErrUnreachable, "migrate %s to %s: no answer to keepalive", m.VM, to.ID)
	case to.copies[m.VM] != nil:
		return 0, failed(hypervisor.ErrExists, "migrate %s to %s", m.VM, to.ID)
	}
	if f := to.room(memory); f != nil {
		return 0, f
	}
	op.Ran = m.State == hypervisor.CopyRunning
	c.begin(m, hypervisor.JobOutgoing, op)
	in := &machine{VM: m.VM, Node: to.ID, State: hypervisor.CopyPaused, Cap: m.Cap, Mem: m.Mem}
	c.add(in)
	c.begin(in, hypervisor.JobIncoming, op)
	c.tell(Change{Kind: MigrateBegun, VM: m.VM, Node: m.Node, To: to.ID}, &m.Mem)
	d := c.cfg.Profile.Migrate.Of(memory)
	if op.Ran {
		d = c.cfg.Profile.MigrateLive.Of(memory)
	}
	if op.Cut == cutMiddle {
		d /= 2
	}
	return d, nil
}

// finishMigrate hands the VM over. A running one runs on at the destination even
// if it was paused meanwhile (lab §6). It answers by itself, unless it fails at
// once: while the destination is frozen there is no answer yet.
func (c *Cluster) finishMigrate(op *operation) *failure {
	from, to := c.on(op.Call.Node, op.Call.VM), c.on(op.Call.To, op.Call.VM)
	if from == nil || to == nil || from.Op != op.Serial || to.Op != op.Serial {
		return refuse(op, "the job is gone")
	}
	switch there := c.hosts[to.Node]; {
	case op.Cut == cutMiddle:
		c.cancelMigrate(op, cutInMiddle(op))
		return nil
	case there.has(Freeze):
		there.queued = append(there.queued, op.Serial)
		c.plan(peerWait, event{Kind: evGiveUp, Op: op.Serial})
		return nil
	}
	c.accrue(from)
	to.Mem, to.Need, to.Half = from.Mem, from.Need, false
	if op.Cut == cutFinish {
		return c.splitMigrate(op, from, to)
	}
	from.Job, from.Op = hypervisor.JobNone, 0
	if op.Ran {
		c.stop(from, hypervisor.CopyPaused)
	}
	c.drop(from)
	change := Change{
		Kind: Migrated, VM: from.VM, Node: from.Node, To: to.Node,
		MemoryEpoch: to.Mem.Epoch, DiskEpoch: c.epochs[to.disk()],
	}
	if op.Ran {
		c.start(to)
	}
	c.release(to)
	c.tell(change, &to.Mem)
	c.end(op, hypervisor.Receipt{}, nil)
	return nil
}

// splitMigrate is a migration whose last reply got lost. A paused VM has two
// paused copies then (M12). A running one runs at the destination and, unless a
// lock forbids it, on at the source as well (M10-M14).
func (c *Cluster) splitMigrate(op *operation, from, to *machine) *failure {
	change := Change{
		Kind: Split, VM: from.VM, Node: from.Node, To: to.Node,
		MemoryEpoch: to.Mem.Epoch, DiskEpoch: c.epochs[to.disk()],
	}
	if op.Ran {
		c.stop(from, hypervisor.CopyPaused)
		c.start(to)
	}
	c.release(to)
	c.tell(change, &to.Mem)
	if op.Ran && c.holder(from.VM, from.Node) == nil {
		c.unpause(from)
	}
	c.release(from)
	return failed(hypervisor.ErrUnreachable, "migrate %s to %s: finish: client socket is closed", from.VM, to.Node)
}

// cancelMigrate ends a migration that fails: the source keeps the VM.
func (c *Cluster) cancelMigrate(op *operation, why *failure) {
	from, to := c.on(op.Call.Node, op.Call.VM), c.on(op.Call.To, op.Call.VM)
	if to != nil && to.Op == op.Serial {
		to.Job, to.Op = hypervisor.JobNone, 0
		c.drop(to)
		c.tell(Change{Kind: Destroyed, VM: to.VM, Node: to.Node}, &to.Mem)
	}
	if from != nil && from.Op == op.Serial {
		c.release(from)
	}
	c.end(op, hypervisor.Receipt{}, why)
}

// giveUp ends a migration whose destination is still frozen (M6, M9).
func (c *Cluster) giveUp(op *operation) {
	if c.hosts[op.Call.To].has(Freeze) {
		c.cancelMigrate(op, failed(hypervisor.ErrUnreachable, "migrate %s to %s: no answer to keepalive",
			op.Call.VM, op.Call.To))
	}
}
