package scheduler

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
)

// validateContainer refuses what does not go with a container, or with a vjob inside one.
// A container keeps its room until it ends.
func (s *Submission) validateContainer() error {
	for _, wrong := range []struct {
		is    bool
		field string
		value any
		want  string
	}{
		{s.Container && s.Inner != 0, "inner", s.Inner, "none beside container: a container is inside no other"},
		{s.Container && s.Walltime <= 0, "walltime_seconds", s.Walltime, "more than 0: a container ends with its walltime"},
		{s.Container && len(s.Array) > 0, "array", len(s.Array), "no array beside container: one vjob is a container"},
		{s.Container && len(s.Shapes) > 0, "shapes", len(s.Shapes), "no alternatives beside container"},
		{s.Container && s.BestEffort, "best_effort", true, "false beside container: it keeps its room until it ends"},
		{s.Container && s.Yields == cluster.ByEnd, "yields", s.Yields, "never, or nothing, beside container: it keeps its room until it ends"},
		{s.Container && s.Idempotent, "idempotent", true, "false beside container: nothing runs in it but other vjobs"},
		{s.Inner != 0 && !s.Reservation.IsZero(), "reservation", s.Reservation.Format(time.RFC3339), "none beside inner: the container can have one"},
		{s.Inner != 0 && len(s.Shapes) > 0, "shapes", len(s.Shapes), "no alternatives beside inner"},
		{s.Inner != 0 && s.Idempotent, "idempotent", true, "false beside inner: another attempt would have no container"},
	} {
		if wrong.is {
			return cluster.BadField(wrong.field, wrong.value, wrong.want)
		}
	}
	if s.Container {
		s.Yields = cluster.Never
	}
	return nil
}

// admitInside says why a vjob cannot run inside the container that it names.
func (c *Core) admitInside(s *Submission) error {
	r, live := c.exec.Job(s.Inner)
	wrong := func(want string) error { return cluster.BadField("inner", s.Inner, want) }
	switch {
	case c.kin.Ended(s.Inner):
		return wrong(fmt.Sprintf("a container that has not ended; vjob %s has", s.Inner))
	case !live || r.Job.Owner != s.Owner:
		return wrong("the number of a container of yours")
	case !r.Job.Container:
		return wrong(fmt.Sprintf("the number of a container; vjob %s is none", s.Inner))
	case r.Record.Then.Outcome() != cluster.Open:
		return wrong(fmt.Sprintf("a container that goes on; vjob %s is ending", s.Inner))
	}
	if left := r.Job.Walltime - r.Ran; s.Walltime > left {
		return cluster.BadField("walltime_seconds", s.Walltime, fmt.Sprintf(
			"at most %s: so long does container %s hold its room", left.Round(time.Second), s.Inner))
	}
	return s.fitsInside(r.Job)
}

// fitsInside refuses what finds no places in the room of each VM of a container. They may
// come to lie on one node, and then there is more; but nobody can count on that.
func (s *Submission) fitsInside(box *cluster.VJob) error {
	rooms := make([]cluster.Node, len(box.VMs))
	for rank := range rooms {
		rooms[rank] = cluster.Node{ID: cluster.NodeID(fmt.Sprintf("VM %d", rank)), Capacity: box.VMs[rank].Reserved}
	}
	job := s.VJob(1)
	for rank := range job.VMs {
		need := job.VMs[rank].Reserved
		if !slices.ContainsFunc(rooms, func(n cluster.Node) bool { return need.Fits(n.Capacity) }) {
			return cluster.BadField(fmt.Sprintf("vms[%d]", rank), need, fmt.Sprintf("at most what one VM of container %s has", box.ID))
		}
	}
	if hopeless(job, "", rooms) != "" {
		return cluster.BadField("vms", fmt.Sprintf("%d VMs", len(job.VMs)), fmt.Sprintf(
			"VMs that find places in the %d VMs of container %s, which have %s", len(rooms), box.ID, box.Reserved()))
	}
	return nil
}

// hardToSave is after how many attempts a vjob that has to leave its container, and cannot
// be saved, is ended instead: others wait for the room.
const hardToSave = 3

// clearInside ends the vjobs whose containers have ended or are about to: those that run
// end as their container does, those that wait have failed. It reports whether there are
// any.
func (c *Core) clearInside(vjobs []execute.Report) (some bool) {
	containers := map[cluster.VJobID]*execute.Report{}
	for i := range vjobs {
		if vjobs[i].Job.Container {
			containers[vjobs[i].Job.ID] = &vjobs[i]
		}
	}
	for i := range vjobs {
		r := &vjobs[i]
		if r.Job.Inner == 0 || r.Record.Phase == gang.Clearing && r.Record.Then.Outcome() != cluster.Open {
			continue
		}
		then, why := gang.ThenFail, fmt.Sprintf("its container %s has ended", r.Job.Inner)
		if box := containers[r.Job.Inner]; box != nil {
			leaves := box.Record.Phase == gang.Clearing
			switch ends := leaves && box.Record.Then.Outcome() != cluster.Open; {
			case ends && !r.Job.State.Ready():
				then, why = box.Record.Then, fmt.Sprintf("its container %s ends: %s", box.Job.ID, box.Record.Cause)
			case ends:
			case leaves && r.Idle && !r.Job.State.Ready() && r.Failures >= hardToSave:
				then, why = gang.ThenWait, fmt.Sprintf("its container %s gives its room back, and it could not be saved: it starts anew", box.Job.ID)
			default:
				continue
			}
		}
		_ = c.exec.Clear(c.now, r.Job.ID, then, why) // it is there: it was just listed
		some = true
	}
	return some
}
