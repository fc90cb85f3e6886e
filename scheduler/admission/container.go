package admission

import (
	"fmt"
	"slices"

	"vjob/cluster"
)

// validateContainer rejects terms that conflict with a container, or with a vjob inside one.
func (s *Submission) validateContainer() error {
	switch {
	case s.Container && s.Inner != 0:
		return cluster.Fault("inner", "a container cannot run inside another one, %s", s.Inner)
	case s.Container && s.Walltime <= 0:
		return cluster.Fault("walltime_seconds", "a container requires a walltime: it ends with it")
	case s.Container && len(s.Array) > 0:
		return cluster.Fault("array", "a container cannot be an array; submit single vjobs")
	case s.Container && len(s.Shapes) > 0:
		return cluster.Fault("shapes", "a container cannot have alternatives")
	case s.Container && s.BestEffort:
		return cluster.Fault("best_effort", "a container keeps its resources until it ends and cannot be best-effort")
	case s.Container && s.Preemption == cluster.ByEnd:
		return cluster.Fault("yields", "a container keeps its resources until it ends, want never instead of %s", s.Preemption)
	case s.Container && s.Idempotent:
		return cluster.Fault("idempotent", "a container runs nothing that could be tried again")
	case s.Inner != 0 && !s.Reservation.IsZero():
		return cluster.Fault("reservation", "a vjob inside a container cannot have a reservation; reserve the container")
	case s.Inner != 0 && len(s.Shapes) > 0:
		return cluster.Fault("shapes", "a vjob inside a container cannot have alternatives")
	case s.Inner != 0 && s.Idempotent:
		return cluster.Fault("idempotent", "a vjob inside a container cannot be tried again: the next attempt would have no container")
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
	for rank := range s.VMs {
		need := s.VMs[rank].Reserved
		if !slices.ContainsFunc(rooms, func(n cluster.Node) bool { return need.Fits(n.Capacity) }) {
			return cluster.Fault(fmt.Sprintf("vms[%d]", rank), "%s requested, no VM of container %s has as much", need, box.ID)
		}
	}
	if hopeless(s.VMs, "", rooms) != "" {
		return cluster.Fault("vms", "no places for %s in container %s with %s of %s together",
			cluster.Count(len(s.VMs), "VM"), box.ID, cluster.Count(len(rooms), "VM"), box.Reserved())
	}
	return nil
}
