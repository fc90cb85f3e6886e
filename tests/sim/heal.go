package sim

import (
	"time"

	"vjob/cluster"
	"vjob/scheduler"
)

// heal ends all faults and holds, and demands that every vjob comes to its end.
func (r *run) heal() error {
	r.cluster.Heal(r.shell.Now())
	r.calm = true
	if err := r.shell.Until(r.shell.Now().Add(time.Minute)); err != nil {
		return err
	}
	for _, n := range r.cluster.Nodes() {
		_ = r.shell.SetNode(n.ID, cluster.Online, "op")
	}
	r.switchOn()
	deadline := r.shell.Now().Add(r.opts.Drain)
	for r.shell.Now().Before(deadline) && !r.done() {
		r.release()
		if err := r.step(r.shell.Now().Add(10 * time.Second)); err != nil {
			return err
		}
	}
	if err := r.shell.Until(r.shell.Now().Add(2 * time.Minute)); err != nil {
		return err
	}
	r.check.Look()
	r.atEnd()
	return nil
}

// release takes every hold back.
func (r *run) release() {
	for _, id := range r.check.acked {
		if c := r.check.jobs[id]; c.Held && !c.State.Terminal() {
			_ = r.shell.Order(id, scheduler.OrderResume, "u")
		}
	}
}

// done reports whether every vjob has ended, also those whose submission was
// written although its submitter was told that it was not.
func (r *run) done() bool {
	for _, row := range r.store.VJobs() {
		if !row.State.Terminal() {
			return false
		}
	}
	return r.dark() == ""
}
