package sim

import (
	"errors"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor/simulated"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// submit submits a vjob of one to four VMs that compute for a few minutes.
func (r *run) submit() error {
	sub := admission.Submission{
		Owner: "u", Name: fmt.Sprintf("job%d", len(r.check.acked)+1), Priority: r.chance.IntN(3),
		VMs: make([]cluster.VM, 1+r.chance.IntN(4)),
	}
	for rank := range sub.VMs {
		steps := make([]cluster.Step, 1+r.chance.IntN(3))
		for i := range steps {
			steps[i] = cluster.Step{
				CPU:      cluster.MilliCPU(r.chance.IntN(3)) * cluster.CPU / 2,
				Duration: time.Duration(20+r.chance.IntN(200)) * time.Second,
			}
		}
		sub.VMs[rank] = cluster.VM{
			Reserved: cluster.Resources{CPU: cluster.CPU, Memory: cluster.MiB(128 * (1 + r.chance.IntN(8)))},
			Payload:  &cluster.Payload{Image: "simulated", Program: &cluster.Program{Steps: steps}},
		}
	}
	if len(sub.VMs) == 2 && r.chance.IntN(3) == 0 {
		sub.Rules = "continuous spread($VMS);"
	}
	r.assignOwner(&sub)
	r.attach(&sub)
	r.pick(&sub)
	r.exit(&sub)
	r.kind(&sub)
	r.time(&sub)
	if r.opts.rationed() {
		sub.MinShare = simFloor
	}
	if err := sub.Validate(admission.Limits{}, nil); err != nil {
		return err
	}
	job, err := r.shell.Submit(sub)
	if err != nil && (r.opts.Unwritten > 0 || sub.Claims() && !errors.Is(err, cluster.ErrConflict)) {
		return nil // not acknowledged; it may have been written
	}
	if err != nil {
		return fmt.Errorf("submit: %w", err)
	}
	members := sub.VJobs(job.ID)
	r.check.tie(members...)
	r.extras.note(members)
	for _, member := range members {
		r.check.acked = append(r.check.acked, member.ID)
		r.modes[member.ID] = member.Moves
	}
	return nil
}

// meddle gives a random order of a user or an operator. It may be refused.
func (r *run) meddle() {
	if len(r.check.acked) == 0 {
		return
	}
	r.turnBack()
	id := r.check.acked[r.chance.IntN(len(r.check.acked))]
	r.restate(id)
	r.repick(id)
	r.answer()
	node := r.cluster.Nodes()[r.chance.IntN(len(r.cluster.Nodes()))].ID
	switch r.chance.IntN(9) {
	case 0, 1:
		_ = r.shell.Order(id, scheduler.OrderSuspend, "u")
	case 2, 3:
		_ = r.shell.Order(id, scheduler.OrderResume, "u")
	case 4:
		_ = r.shell.Order(id, scheduler.OrderHold, "u")
	case 5:
		_ = r.shell.Order(id, scheduler.OrderRelease, "u")
	case 6:
		_ = r.shell.SetNode(node, cluster.Draining, "op")
	case 7:
		if !r.killed[node] {
			_ = r.shell.SetNode(node, cluster.Online, "op")
		}
	case 8:
		switch {
		case r.chance.IntN(4) == 0:
			_ = r.shell.Order(id, scheduler.OrderDelete, "u")
		case r.shell.Now().UnixMilli()%2 == 0:
			r.reload()
		default:
			r.shell.Kill()
		}
	}
}

// turnBack, in some runs, requeues a suspended vjob from time to time, and restores lost vjobs
// from kept images.
func (r *run) turnBack() {
	if !r.opts.rescues() {
		return
	}
	for _, id := range r.check.acked {
		if r.check.gangs[id].Phase == gang.Saved && r.shell.Now().UnixMilli()%5 == 0 {
			_ = r.shell.Order(id, scheduler.OrderRequeue, "op")
		}
		r.rescue(id)
	}
}

// rescue restores a lost vjob from kept images, in some runs. It reports whether it did.
func (r *run) rescue(id cluster.VJobID) bool {
	rec := r.check.gangs[id]
	if !r.opts.rescues() || rec.Phase != gang.Absent || len(rec.Kept) == 0 || r.shell.Restore(id, 0, "op") != nil {
		return false
	}
	r.check.counts.Rescues++
	return true
}

// rescues reports whether lost vjobs of this run are restored from kept images.
func (o *Options) rescues() bool { return o.Seed%2 == 1 && o.Faults != (simulated.Rates{}) }
