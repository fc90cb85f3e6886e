package simulated

import (
	"cmp"
	"time"

	"vjob/hypervisor"
)

// finishShutdown asks the guest to shut down, which takes time.
func (x *executor) finishShutdown(op *operation) *failure {
	m, f := x.nodes.target(op)
	switch {
	case f != nil:
		return f
	case m.State != hypervisor.CopyRunning:
		return refuse(op, "domain is not running") // lab §6: code 55
	case m.Memory.Stage != stopping:
		m.accrue(x.clock.now)
		x.guests.beginShutdown(m)
		x.guests.printEnd(m, "power button")
		x.guests.mark(m)
	}
	return nil
}

// finishDestroy ends the copy and its job.
func (x *executor) finishDestroy(op *operation) *failure {
	m, f := x.nodes.target(op)
	if f != nil {
		return f
	}
	x.machines.cancelJob(m, newFailure(hypervisor.ErrNoSuchVM, "%s on %s was destroyed", m.VM, m.Node))
	if x.nodes.at(m.Node, m.VM) != m {
		return nil // the copy ended with its job
	}
	x.machines.remove(m)
	x.observer.report(Change{Kind: Destroyed, VM: m.VM, Node: m.Node}, &m.Memory)
	return nil
}

// finishPause stops the copy. Pausing a paused copy is no failure; a pause during a live
// migration is lost when the migration ends (lab §6).
func (x *executor) finishPause(op *operation) *failure {
	m, f := x.nodes.target(op)
	switch {
	case f != nil:
		return f
	case m.State == hypervisor.CopyDead:
		return refuse(op, "domain is not running")
	case m.Unpausable:
		return refuse(op, "the monitor does not answer")
	case m.State == hypervisor.CopyRunning:
		x.guests.stop(m, hypervisor.CopyPaused)
		x.observer.report(Change{Kind: Paused, VM: m.VM, Node: m.Node}, &m.Memory)
	}
	return nil
}

func (x *executor) startUnpause(op *operation) (time.Duration, *failure) {
	m, f := x.nodes.target(op)
	if f == nil && m.Op != 0 {
		x.machines.wait(op, m)
	}
	return x.profile.Unpause, f
}

// finishUnpause lets the copy continue, unless a lock on another node prevents it.
func (x *executor) finishUnpause(op *operation) *failure {
	m, f := x.nodes.target(op)
	switch {
	case f != nil:
		return f
	case m.State != hypervisor.CopyPaused:
		return refuse(op, "domain is already "+m.State.String()) // lab §6: code 55
	case m.Op != 0:
		return refuse(op, "cannot acquire state change lock")
	}
	if o := x.nodes.lockHolder(m.VM, m.Node); o != nil {
		return locked(op, o)
	}
	x.machines.unpause(m)
	return nil
}

// finishAbort cancels the job of the copy.
func (x *executor) finishAbort(op *operation) *failure {
	m, f := x.nodes.target(op)
	switch {
	case f != nil:
		return f
	case m.Job == hypervisor.JobSaving:
		// Lab §6: aborting leaves the partial file of a running VM; row 6f: not that
		// of a paused one.
		saving := x.ops.jobOf(m)
		x.machines.cancelSave(m, saving.WasRunning, refuse(saving, "aborted"))
	case m.Job == hypervisor.JobOutgoing:
		x.machines.cancelMigrate(x.ops.jobOf(m), refuse(x.ops.jobOf(m), "aborted"))
	case m.Incomplete:
		x.machines.removeIncomplete(m, refuse(op, "aborted"))
	default:
		return refuse(op, "no job that can be aborted is active")
	}
	return nil
}

// finishTune changes the cap and the weight of a copy, also of one that is paused or has a job.
func (x *executor) finishTune(op *operation) *failure {
	m, f := x.nodes.target(op)
	switch {
	case f != nil:
		return f
	case m.State == hypervisor.CopyDead:
		return refuse(op, "domain is not running")
	}
	weight := cmp.Or(op.Call.Weight, m.Weight)
	if m.Cap == op.Call.Cap && m.Weight == weight {
		return nil
	}
	m.accrue(x.clock.now)
	m.Cap, m.Weight = op.Call.Cap, weight
	x.guests.markChanged(m)
	x.guests.mark(m)
	return nil
}
