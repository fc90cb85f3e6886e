package simulated

import (
	"time"

	"vjob/hypervisor"
)

// startSave begins to write the image. A running copy is paused for it, and continues if the
// save fails (row 6a).
func (x *executor) startSave(op *operation) (time.Duration, *failure) {
	m, f := x.nodes.target(op)
	if f != nil {
		return 0, f
	}
	n, id := x.nodes.of(m), op.Call.Image
	switch {
	case m.State == hypervisor.CopyDead:
		return 0, refuse(op, "domain is not running")
	case m.Job != hypervisor.JobNone:
		x.machines.wait(op, m)
		return 0, nil
	case id.VM != m.VM:
		return 0, refuse(op, "image "+id.String()+" is another VM's")
	case x.store.images[id] != nil:
		return 0, refuse(op, "image "+id.String()+" exists")
	}
	if f := x.store.failureOn(n); f != nil {
		return 0, f
	}
	op.WasRunning = m.State == hypervisor.CopyRunning
	if op.WasRunning {
		x.guests.stop(m, hypervisor.CopyPaused)
		x.observer.report(Change{Kind: Paused, VM: m.VM, Node: m.Node}, &m.Memory)
	}
	x.machines.beginJob(m, hypervisor.JobSaving, op)
	x.store.create(id, n, m)
	return x.profile.Save.Of(m.size()), nil
}

// finishSave completes the image and removes the copy. If the image was deleted meanwhile, the
// memory is lost.
func (x *executor) finishSave(op *operation) *failure {
	m, f := x.nodes.target(op)
	if f != nil || m.Op != op.Serial {
		return refuse(op, "the job is gone")
	}
	n := x.nodes.of(m)
	if op.Cut == cutFull || op.Cut == cutFullLeft || n.has(DiskFull) || x.store.free(n.Pool) < m.size() {
		full := newFailure(hypervisor.ErrNoSpace, "save %s on %s: no space left on device", m.VM, m.Node)
		x.machines.cancelSave(m, op.Cut == cutFullLeft, full)
		return full
	}
	x.store.complete(op.Call.Image, m)
	m.clearJob()
	x.machines.remove(m)
	x.observer.report(Change{Kind: Saved, VM: m.VM, Node: m.Node, Image: op.Call.Image}, &m.Memory)
	return nil
}

func (x *executor) startSeal(op *operation) (time.Duration, *failure) {
	i, f := x.store.readable(op.Call.Image, op.Call.Node)
	if f != nil {
		return 0, f
	}
	return x.profile.Seal.Of(i.Mem.Spec.Reserved.Memory), nil
}
