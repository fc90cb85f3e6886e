package admission

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
)

// validateContainer rejects terms that conflict with a container, or with a vjob inside one.
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
		{s.Container && s.Preemption == cluster.ByEnd, "yields", s.Preemption, "never, or nothing, beside container: it keeps its room until it ends"},
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
		s.Preemption = cluster.Never
	}
	return nil
}

// FitsInside rejects a vjob that finds no places in the VMs of a container, each taken as a node of
// its own. VMs on the same node would offer more, but not reliably.
func (s *Submission) FitsInside(box *cluster.VJob) error {
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
