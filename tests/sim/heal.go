package sim

import (
	"strings"
	"time"

	"vjob/cluster"
	"vjob/scheduler"
)

// heal ends all faults and holds, and checks that every vjob ends.
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
		r.giveUp()
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

// release releases every held vjob, including vjobs from submissions that were answered with an
// error, and restores lost vjobs from kept images. Vjobs with unusable images start from
// scratch, as the alarm advises.
func (r *run) release() {
	for _, row := range r.store.VJobs() {
		id := row.ID
		switch c := r.check.jobs[id]; {
		case !c.Held || c.State.Terminal() || c.State == cluster.Resuming:
		case c.State == cluster.Waiting && r.rescue(id):
		case (c.State == cluster.Suspended || c.State == cluster.Suspending) && strings.Contains(c.Hold.Fields().Text, "cannot be used"):
			_ = r.shell.Order(id, scheduler.OrderRequeue, "op")
		default:
			_ = r.shell.Order(id, scheduler.OrderResume, "u")
		}
	}
}

// giveUp deletes suspended vjobs with a corrupt image, as an administrator does without
// another copy of it.
func (r *run) giveUp() {
	if r.shell.Now().Before(r.end.Add(10 * time.Minute)) {
		return // first they get time to recover without help
	}
	for _, i := range r.cluster.Truth().Images {
		if i.Corrupt && r.check.jobs[i.ID.VM.VJob].State == cluster.Suspended {
			_ = r.shell.Order(i.ID.VM.VJob, scheduler.OrderDelete, "op")
		}
	}
}

// done reports whether every vjob has ended, including vjobs from submissions that were
// answered with an error.
func (r *run) done() bool {
	for _, row := range r.store.VJobs() {
		if !row.State.Terminal() {
			return false
		}
	}
	return r.dark() == ""
}
