package simulated

import (
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated/guestshell"
)

// startBoot creates the copy at once, so that looks show it; the guest works after its boot.
func (x *executor) startBoot(op *operation) (time.Duration, *failure) {
	call := &op.Call
	n := x.nodes.byID[call.Node]
	if n.copies[call.VM] != nil {
		return 0, newFailure(hypervisor.ErrExists, "boot %s on %s", call.VM, call.Node)
	}
	if call.Machine == nil {
		return 0, refuse(op, "no machine is described")
	}
	if f := n.memoryFailure(call.Machine.Reserved.Memory); f != nil {
		return 0, f
	}
	if o := x.nodes.lockHolder(call.VM, call.Node); o != nil {
		return 0, locked(op, o)
	}
	d := x.random.jitter(x.slowed(call, x.profile.Boot))
	m := &machine{
		VM: call.VM, Node: call.Node, State: hypervisor.CopyRunning, execution: execution{Cap: call.Cap, Weight: call.Weight},
		Memory: memory{
			Stamp: call.Stamp, Spec: call.Machine, Hardware: n.newHardware(), Program: interpreted(call.VM, call.Machine),
			Stage: booting, Length: d,
		},
	}
	x.guests.consoles.begin(m)
	if op.Hangs {
		x.startHungBoot(m, op)
		return x.random.hangTime(), nil
	}
	x.guests.add(m)
	x.machines.powerUp(m)
	return d, nil
}

func (x *executor) finishBoot(op *operation) *failure {
	m, f := x.nodes.target(op)
	if f == nil && m.Op == op.Serial {
		return x.finishHungBoot(m, op)
	}
	return f
}

// startHungBoot creates a copy with a guest that does not run yet. Looks show it as being
// restored: libvirt does not distinguish the two.
func (x *executor) startHungBoot(m *machine, op *operation) {
	m.State = hypervisor.CopyPaused
	x.guests.add(m)
	x.machines.beginJob(m, hypervisor.JobRestoring, op)
}

// finishHungBoot starts the guest of a boot that hung.
func (x *executor) finishHungBoot(m *machine, op *operation) *failure {
	if o := x.nodes.lockHolder(m.VM, m.Node); o != nil {
		f := locked(op, o)
		x.machines.removeIncomplete(m, f)
		return f
	}
	x.machines.powerUp(m)
	x.machines.endJob(m)
	return nil
}

// interpreted returns what a guest computes for its command or script; nil if it has neither, or a program of its own.
func interpreted(vm cluster.VMID, m *hypervisor.Machine) *cluster.Program {
	if m.Payload.Program != nil {
		return nil
	}
	work := guestshell.Interpret(&m.Payload, m.Reserved.CPU, cluster.GuestName(vm))
	if work == nil {
		return nil
	}
	return work.Program
}
