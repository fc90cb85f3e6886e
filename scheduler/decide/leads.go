package decide

import (
	"time"

	"vjob/cluster"
	"vjob/queue/reservation"
)

// leads returns how long before a reservation nodes are cleared for it: the time to suspend all
// preemptible vjobs of the busiest node, or to move the others off it, plus the margin. vjobs
// start only if they end before a whole node would have to be cleared. Zero without reservations.
func (v *View) leads() reservation.Leads {
	if !v.reserved() {
		return reservation.Leads{}
	}
	at := map[cluster.NodeID]time.Duration{}
	for i := range v.VJobs {
		r := &v.VJobs[i]
		stands := r.Job.State == cluster.Paused // its memory has to be saved as well
		if r.Job.State != cluster.Running && !stands || r.Job.Container {
			continue
		}
		leaves := v.suspension
		if !r.Job.Reservation.IsZero() || v.settings.Keeps(r.Job) {
			leaves = v.removal
		}
		for k := range r.Job.VMs {
			if node := v.layout.current.Place(r.Job.VMs[k].ID); node != "" {
				at[node] += leaves(node, r.Job.VMs[k].Reserved.Memory)
			}
		}
	}
	var busiest, whole time.Duration
	for _, n := range v.layout.current.Nodes() {
		busiest, whole = max(busiest, at[n.ID]), max(whole, at[n.ID], v.suspension(n.ID, n.Capacity.Memory))
	}
	if len(at) > 0 {
		busiest += v.settings.Reservations.Margin
	}
	return reservation.Leads{Suspend: busiest, Start: whole + v.settings.Reservations.Margin}
}

// suspension returns how long it takes a node to suspend so much memory with parallel transfers.
func (v *View) suspension(node cluster.NodeID, memory cluster.MiB) time.Duration {
	return v.costs.Duration(cluster.Suspend, memory, node, "") / time.Duration(max(1, v.settings.Execute.Transfers))
}

// removal returns how long it takes to move so much memory off a node, where another VM may have
// to leave first.
func (v *View) removal(node cluster.NodeID, memory cluster.MiB) time.Duration {
	costs := v.costs
	moves := costs.Duration(cluster.Migrate, memory, node, "")
	if !v.settings.Live {
		moves = max(moves, costs.Duration(cluster.Suspend, memory, node, "")+costs.Duration(cluster.Resume, memory, node, ""))
	}
	return 2 * moves / time.Duration(max(1, v.settings.Execute.Transfers))
}

// reserved reports whether any vjob waits for its reservation.
func (v *View) reserved() bool {
	for i := range v.VJobs {
		if job := v.VJobs[i].Job; !job.Reservation.IsZero() && job.State.Ready() {
			return true
		}
	}
	return false
}
