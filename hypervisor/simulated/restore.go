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
	if i.Node == h.ID {
		return c.cfg.Profile.Restore.Of(memory), nil
	}
	return c.cfg.Profile.RestoreRemote.Of(memory), nil
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
	c.release(m)
	c.tell(Change{Kind: Restored, VM: m.VM, Node: m.Node, Image: op.Call.Image, Attempt: op.Call.Attempt}, &m.Mem)
	return nil
}

// finishRevoke forbids the attempts, queued ones included, and removes the copies
// of those that are under way, wherever: the fence is in the store.
func (c *Cluster) finishRevoke(op *operation) *failure {
	id, attempt := op.Call.Image, op.Call.Attempt
	if c.hosts[op.Call.Node].has(StoreGone) {
		return refuse(op, "the store is not mounted")
	}
	if last, ok := c.revoked[id]; !ok || attempt > last {
		c.revoked[id] = attempt
	}
	c.tell(Change{Kind: Revoked, VM: id.VM, Node: op.Call.Node, Image: id, Attempt: attempt}, nil)
	for _, h := range c.order {
		m := h.copies[id.VM]
		if m == nil || m.Job != hypervisor.JobRestoring {
			continue
		}
		late := c.ops[m.Op]
		if f := c.fence(late); late.Call.Image == id && f != nil {
			c.undo(m, f)
		}
	}
	return nil
}

// undo removes a copy that was being restored.
func (c *Cluster) undo(m *machine, why *failure) {
	op := c.ops[m.Op]
	m.Job, m.Op = hypervisor.JobNone, 0
	c.drop(m)
	c.tell(Change{Kind: Destroyed, VM: m.VM, Node: m.Node}, &m.Mem)
	c.end(op, hypervisor.Receipt{}, why)
}
