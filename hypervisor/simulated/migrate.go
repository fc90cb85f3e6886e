package simulated

import (
	"time"

	"vjob/hypervisor"
)

// startMigrate creates the incoming copy: during the transfer the VM is on both nodes and uses
// memory on both (I8).
func (c *Cluster) startMigrate(op *operation) (time.Duration, *failure) {
	m, f := c.nodes.present(op)
	if f != nil {
		return 0, f
	}
	to, known := c.nodes.byID[op.Call.To]
	memory := m.Memory.Spec.Reserved.Memory
	switch {
	case m.State == hypervisor.CopyDead:
		return 0, refuse(op, "domain is not running")
	case m.Job != hypervisor.JobNone:
		return 0, refuse(op, "another job is active") // lab §6: code 55
	case !known || to.ID == m.Node:
		return 0, refuse(op, "no such destination")
	case !to.up() || to.has(DaemonKilled):
		return 0, newFailure(hypervisor.ErrUnreachable, "migrate %s to %s: connection refused", m.VM, to.ID)
	case to.has(Freeze):
		return 0, newFailure(hypervisor.ErrUnreachable, "migrate %s to %s: no answer to keepalive", m.VM, to.ID)
	case to.copies[m.VM] != nil:
		return 0, newFailure(hypervisor.ErrExists, "migrate %s to %s", m.VM, to.ID)
	}
	if f := to.memoryFailure(memory); f != nil {
		return 0, f
	}
	op.Ran = m.State == hypervisor.CopyRunning
	c.beginJob(m, hypervisor.JobOutgoing, op)
	in := &machine{VM: m.VM, Node: to.ID, State: hypervisor.CopyPaused, Cap: m.Cap, Memory: m.Memory}
	c.guests.add(in)
	c.beginJob(in, hypervisor.JobIncoming, op)
	c.observer.report(Change{Kind: MigrateBegun, VM: m.VM, Node: m.Node, To: to.ID}, &m.Memory)
	d := c.profile.Migrate.Of(memory)
	if op.Ran {
		d = c.profile.MigrateLive.Of(memory)
	}
	if op.Cut == cutMiddle {
		d /= 2
	}
	return d, nil
}

// finishMigrate completes the migration. A copy that ran at its start continues at the
// destination even if it was paused meanwhile (lab §6). finishMigrate answers the call itself
// unless it returns a failure: while the destination is frozen there is no answer yet.
func (c *Cluster) finishMigrate(op *operation) *failure {
	from, to := c.nodes.at(op.Call.Node, op.Call.VM), c.nodes.at(op.Call.To, op.Call.VM)
	if from == nil || to == nil || from.Op != op.Serial || to.Op != op.Serial {
		return refuse(op, "the job is gone")
	}
	switch there := c.nodes.byID[to.Node]; {
	case op.Cut == cutMiddle:
		c.cancelMigrate(op, cutInMiddle(op))
		return nil
	case there.has(Freeze):
		there.queued = append(there.queued, op.Serial)
		c.clock.schedule(peerWait, event{Kind: evGiveUp, Op: op.Serial})
		return nil
	}
	from.accrue(c.clock.now)
	to.Memory, to.Demand, to.Incomplete = from.Memory, from.Demand, false
	if op.Cut == cutFinish {
		return c.splitMigrate(op, from, to)
	}
	from.Job, from.Op = hypervisor.JobNone, 0
	if op.Ran {
		c.guests.stop(from, hypervisor.CopyPaused)
	}
	c.removeCopy(from)
	change := Change{
		Kind: Migrated, VM: from.VM, Node: from.Node, To: to.Node,
		MemoryEpoch: to.Memory.Epoch, DiskEpoch: c.guests.epochs[to.disk()],
	}
	if op.Ran {
		c.guests.run(to)
	}
	c.endJob(to)
	c.observer.report(change, &to.Memory)
	c.ops.end(op, hypervisor.Receipt{}, nil)
	return nil
}

// splitMigrate is a migration that loses its last reply. A paused VM then has two paused copies
// (M12). A running VM runs at the destination and, unless a lock prevents it, at the source as
// well (M10-M14).
func (c *Cluster) splitMigrate(op *operation, from, to *machine) *failure {
	change := Change{
		Kind: Split, VM: from.VM, Node: from.Node, To: to.Node,
		MemoryEpoch: to.Memory.Epoch, DiskEpoch: c.guests.epochs[to.disk()],
	}
	if op.Ran {
		c.guests.stop(from, hypervisor.CopyPaused)
		c.guests.run(to)
	}
	c.endJob(to)
	c.observer.report(change, &to.Memory)
	if op.Ran && c.nodes.lockHolder(from.VM, from.Node) == nil {
		c.unpause(from)
	}
	c.endJob(from)
	return newFailure(hypervisor.ErrUnreachable, "migrate %s to %s: finish: client socket is closed", from.VM, to.Node)
}

// cancelMigrate ends a failed migration: the source keeps the VM.
func (c *Cluster) cancelMigrate(op *operation, why *failure) {
	from, to := c.nodes.at(op.Call.Node, op.Call.VM), c.nodes.at(op.Call.To, op.Call.VM)
	if to != nil && to.Op == op.Serial {
		to.Job, to.Op = hypervisor.JobNone, 0
		c.removeCopy(to)
		c.observer.report(Change{Kind: Destroyed, VM: to.VM, Node: to.Node}, &to.Memory)
	}
	if from != nil && from.Op == op.Serial {
		c.endJob(from)
	}
	c.ops.end(op, hypervisor.Receipt{}, why)
}

// giveUp ends a migration if its destination is still frozen (M6, M9).
func (c *Cluster) giveUp(op *operation) {
	if c.nodes.byID[op.Call.To].has(Freeze) {
		c.cancelMigrate(op, newFailure(hypervisor.ErrUnreachable, "migrate %s to %s: no answer to keepalive",
			op.Call.VM, op.Call.To))
	}
}
