package simulated

import (
	"time"

	"vjob/hypervisor"
)

// startRestore verifies the image and creates the copy, paused, with a job until
// its memory is there. Nothing keeps the same image from being restored twice
// (E4, 7h), except an attempt that was revoked. Paused copies take no lock.
func (c *Cluster) startRestore(op *operation) (time.Duration, *failure) {
	call := &op.Call
	h := c.hosts[call.Node]
	if f := c.fence(op); f != nil {
		return 0, f
	}
	if h.copies[call.VM] != nil {
		return 0, failed(hypervisor.ErrExists, "restore %s on %s", call.VM, call.Node)
	}
	i, f := c.readable(call.Image, call.Node)
	switch {
	case f != nil:
		return 0, f
	case i.ID.VM != call.VM:
		return 0, refuse(op, "image "+i.ID.String()+" is another VM's")
	case i.checksum() != call.Checksum:
		return 0, failed(hypervisor.ErrBadImage, "restore %s on %s: image %s does not match its checksum",
			call.VM, call.Node, i.ID)
	}
	memory := i.Mem.Spec.Reserved.Memory
	if f := h.room(memory); f != nil {
		return 0, f
	}
	m := &machine{VM: call.VM, Node: call.Node, State: hypervisor.CopyPaused, Cap: call.Cap, Mem: i.Mem}
	m.Mem.Corrupt = m.Mem.Corrupt || i.Rot > 0
	c.add(m)
	c.begin(m, hypervisor.JobRestoring, op)
	c.tell(Change{Kind: RestoreBegun, VM: m.VM, Node: m.Node, Image: i.ID, Attempt: call.Attempt}, &m.Mem)
	d := c.cfg.Profile.RestoreRemote.Of(memory)
	if i.Node == h.ID {
		d = c.cfg.Profile.Restore.Of(memory)
	}
	if h.has(StoreSlow) {
		d *= time.Duration(slowest/10 + c.chance.IntN(slowest))
	}
	if h.has(LoadRefused) || c.misfit(h, i) {
		op.Cut = cutLoad
		d /= 2
	}
	return d, nil
}

// fence is the failure of an attempt that was revoked.
func (c *Cluster) fence(op *operation) *failure {
	if last, ok := c.revoked[op.Call.Image]; ok && op.Call.Attempt <= last {
		return refuse(op, "the attempt was revoked")
	}
	return nil
}

func (c *Cluster) finishRestore(op *operation) *failure {
	m, f := c.present(op)
	if f != nil || m.Op != op.Serial {
		return refuse(op, "the job is gone")
	}
	if op.Cut == cutLoad {
		f = c.unloadable(m, op)
		c.undo(m, f)
		return f
	}
	c.release(m)
	c.tell(Change{Kind: Restored, VM: m.VM, Node: m.Node, Image: op.Call.Image, Attempt: op.Call.Attempt}, &m.Mem)
	return nil
}

// finishRevoke forbids the attempts, queued ones included: the fence is in the store.
// One that has opened its image goes on: on Linux a link that is gone takes nothing
// from a file that is open.
func (c *Cluster) finishRevoke(op *operation) *failure {
	id, attempt := op.Call.Image, op.Call.Attempt
	if f := c.reached(c.hosts[op.Call.Node]); f != nil {
		return f
	}
	if last, ok := c.revoked[id]; !ok || attempt > last {
		c.revoked[id] = attempt
	}
	c.tell(Change{Kind: Revoked, VM: id.VM, Node: op.Call.Node, Image: id, Attempt: attempt}, nil)
	return nil
}
