package simulated

import (
	"time"

	"vjob/hypervisor"
)

// startRestore verifies the image and creates the copy, paused, with a job until its memory is
// loaded. Nothing prevents a second restore of the same image (E4, 7h), unless its attempt was
// revoked. Paused copies hold no lock.
func (x *executor) startRestore(op *operation) (time.Duration, *failure) {
	call := &op.Call
	n := x.nodes.byID[call.Node]
	if f := x.store.revokedFailure(op); f != nil {
		return 0, f
	}
	if n.copies[call.VM] != nil {
		return 0, newFailure(hypervisor.ErrExists, "restore %s on %s", call.VM, call.Node)
	}
	i, f := x.store.readable(call.Image, call.Node)
	switch {
	case f != nil:
		return 0, f
	case i.ID.VM != call.VM:
		return 0, refuse(op, "image "+i.ID.String()+" is another VM's")
	case i.checksum() != call.Checksum:
		return 0, newFailure(hypervisor.ErrBadImage, "restore %s on %s: image %s does not match its checksum",
			call.VM, call.Node, i.ID)
	}
	if f := incompatible(op, i.Mem.Hardware, n); f != nil {
		return 0, f
	}
	memory := i.Mem.Spec.Reserved.Memory
	if f := n.memoryFailure(memory); f != nil {
		return 0, f
	}
	m := &machine{
		VM: call.VM, Node: call.Node, State: hypervisor.CopyPaused, execution: execution{Cap: call.Cap, Weight: call.Weight}, Memory: i.Mem,
	}
	m.Memory.Corrupt = m.Memory.Corrupt || i.Rot > 0
	x.guests.add(m)
	x.machines.beginJob(m, hypervisor.JobRestoring, op)
	x.observer.report(Change{Kind: RestoreBegun, VM: m.VM, Node: m.Node, Image: i.ID, Attempt: call.Attempt}, &m.Memory)
	d := x.profile.RestoreRemote.Of(memory)
	if i.Node == n.ID {
		d = x.profile.Restore.Of(memory)
	}
	if n.has(StoreSlow) {
		d *= time.Duration(maxStoreSlowdown/10 + x.random.IntN(maxStoreSlowdown))
	}
	if n.has(LoadRefused) || x.store.incompatible(n, i) {
		op.Cut = cutLoad
		d /= 2
	}
	return d, nil
}

func (x *executor) finishRestore(op *operation) *failure {
	m, f := x.nodes.target(op)
	if f != nil || m.Op != op.Serial {
		return refuse(op, "the job is gone")
	}
	if op.Cut == cutLoad {
		f = loadFailure(x.nodes.of(m), op)
		x.machines.removeIncomplete(m, f)
		return f
	}
	x.machines.endJob(m)
	x.observer.report(Change{Kind: Restored, VM: m.VM, Node: m.Node, Image: op.Call.Image, Attempt: op.Call.Attempt}, &m.Memory)
	return nil
}

// loadFailure is the failure of a node that does not load an image.
func loadFailure(n *node, op *operation) *failure {
	why := "load of migration failed: input/output error"
	if !n.has(LoadRefused) {
		why = "load of migration failed: machine type received is 'pc-i440fx-7.2' and local is 'pc-i440fx-6.2'"
	}
	return refuse(op, why)
}
