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
		leaves := v.settings.suspension
		if !r.Job.Reservation.IsZero() || v.settings.Keeps(r.Job) {
			leaves = v.settings.removal
		}
		for k := range r.Job.VMs {
			if node := v.layout.current.Place(r.Job.VMs[k].ID); node != "" {
				at[node] += leaves(r.Job.VMs[k].Reserved.Memory)
			}
		}
	}
	var busiest, whole time.Duration
	for _, n := range v.layout.current.Nodes() {
		busiest, whole = max(busiest, at[n.ID]), max(whole, at[n.ID], v.settings.suspension(n.Capacity.Memory))
	}
	if len(at) > 0 {
		busiest += v.settings.Reservations.Margin
	}
	return reservation.Leads{Suspend: busiest, Start: whole + v.settings.Reservations.Margin}
}

// suspension returns how long it takes to suspend so much memory with parallel transfers.
func (s *Settings) suspension(memory cluster.MiB) time.Duration {
	return s.Execute.Costs.Duration(cluster.Suspend, memory, false) / time.Duration(max(1, s.Execute.Transfers))
}

// removal returns how long it takes to move so much memory elsewhere, where another VM may have
// to leave first.
func (s *Settings) removal(memory cluster.MiB) time.Duration {
	moves := s.Execute.Costs.Duration(cluster.Migrate, memory, false)
	if !s.Live {
		moves = max(moves, s.Execute.Costs.Duration(cluster.Suspend, memory, false)+s.Execute.Costs.Duration(cluster.Resume, memory, true))
	}
	return 2 * moves / time.Duration(max(1, s.Execute.Transfers))
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
