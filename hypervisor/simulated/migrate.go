package simulated

import (
	"time"

	"vjob/hypervisor"
)

// startMigrate creates the incoming copy: during the transfer the VM is on both nodes and uses
// memory on both (I8).
func (x *executor) startMigrate(op *operation) (time.Duration, *failure) {
	m, f := x.nodes.target(op)
	if f != nil {
		return 0, f
	}
	to, known := x.nodes.byID[op.Call.To]
	memory := m.size()
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
	if f := incompatible(op, m.Memory.Hardware, to); f != nil {
		return 0, f
	}
	if f := to.memoryFailure(memory); f != nil {
		return 0, f
	}
	op.WasRunning = m.State == hypervisor.CopyRunning
	x.machines.beginJob(m, hypervisor.JobOutgoing, op)
	in := &machine{
		VM: m.VM, Node: to.ID, State: hypervisor.CopyPaused, execution: execution{Cap: m.Cap, Weight: m.Weight}, Memory: m.Memory,
	}
	x.guests.add(in)
	x.machines.beginJob(in, hypervisor.JobIncoming, op)
	x.observer.report(Change{Kind: MigrateBegun, VM: m.VM, Node: m.Node, To: to.ID}, &m.Memory)
	d := x.profile.Migrate.Of(memory)
	if op.WasRunning {
		d = x.profile.MigrateLive.Of(memory)
	}
	if op.Cut == cutMiddle {
		d /= 2
	}
	return d, nil
}

// finishMigrate completes the migration. A copy that ran at its start continues at the
// destination even if it was paused meanwhile (lab §6). finishMigrate answers the call itself
// unless it returns a failure: while the destination is frozen there is no answer yet.
func (x *executor) finishMigrate(op *operation) *failure {
	from, to := x.nodes.at(op.Call.Node, op.Call.VM), x.nodes.at(op.Call.To, op.Call.VM)
	if from == nil || to == nil || from.Op != op.Serial || to.Op != op.Serial {
		return refuse(op, "the job is gone")
	}
	switch {
	case op.Cut == cutMiddle:
		x.machines.cancelMigrate(op, cutInMiddle(op))
		return nil
	case x.nodes.byID[to.Node].holds(op):
		x.clock.schedule(peerWait, event{Kind: evGiveUp, Op: op.Serial})
		return nil
	}
	from.accrue(x.clock.now)
	to.Memory, to.Demand, to.Incomplete = from.Memory, from.Demand, false
	if op.Cut == cutFinish {
		return x.splitMigrate(op, from, to)
	}
	from.clearJob()
	if op.WasRunning {
		x.guests.stop(from, hypervisor.CopyPaused)
	}
	x.machines.remove(from)
	change := Change{
		Kind: Migrated, VM: from.VM, Node: from.Node, To: to.Node,
		MemoryEpoch: to.Memory.Epoch, DiskEpoch: x.guests.epochs[to.disk()],
	}
	if op.WasRunning {
		x.guests.run(to)
	}
	x.machines.endJob(to)
	x.observer.report(change, &to.Memory)
	x.ops.end(op, hypervisor.Receipt{}, nil)
	return nil
}

// splitMigrate is a migration that loses its last reply. A paused VM then has two paused copies
// (M12). A running VM runs at the destination and, unless a lock prevents it, at the source as
// well (M10-M14).
func (x *executor) splitMigrate(op *operation, from, to *machine) *failure {
	change := Change{
		Kind: Split, VM: from.VM, Node: from.Node, To: to.Node,
		MemoryEpoch: to.Memory.Epoch, DiskEpoch: x.guests.epochs[to.disk()],
	}
	if op.WasRunning {
		x.guests.stop(from, hypervisor.CopyPaused)
		x.guests.run(to)
	}
	x.machines.endJob(to)
	x.observer.report(change, &to.Memory)
	if op.WasRunning && x.nodes.lockHolder(from.VM, from.Node) == nil {
		x.machines.unpause(from)
	}
	x.machines.endJob(from)
	return newFailure(hypervisor.ErrUnreachable, "migrate %s to %s: finish: client socket is closed", from.VM, to.Node)
}

// giveUp ends a migration if its destination is still frozen (M6, M9).
func (x *executor) giveUp(op *operation) {
	if x.nodes.byID[op.Call.To].has(Freeze) {
		x.machines.cancelMigrate(op, newFailure(hypervisor.ErrUnreachable, "migrate %s to %s: no answer to keepalive",
			op.Call.VM, op.Call.To))
	}
}

func cutInMiddle(op *operation) *failure {
	return newFailure(hypervisor.ErrUnreachable, "migrate %s to %s: client socket is closed", op.Call.VM, op.Call.To)
}
