package decide

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/queue/reservation"
)

// leads returns how long before a reservation nodes are cleared for it: the time to suspend all
// preemptible vjobs of the busiest node, or to move the others off it, plus the margin. vjobs
// start only if they end before a whole node would have to be cleared. Zero without reservations.
func (v *View) leads() reservation.Leads {
	if !awaitsReservation(v.VJobs) {
		return reservation.Leads{}
	}
	c, at := clearing{v.costs, v.settings}, map[cluster.NodeID]time.Duration{}
	for i := range v.VJobs {
		r := &v.VJobs[i]
		stands := r.Job.State == cluster.Paused // its memory has to be saved as well
		if r.Job.State != cluster.Running && !stands || r.Job.Container {
			continue
		}
		leaves := c.suspension
		if !r.Job.Reservation.IsZero() || v.settings.Keeps(r.Job) {
			leaves = c.removal
		}
		for k := range r.Job.VMs {
			if node := v.layout.current.Place(r.Job.VMs[k].ID); node != "" {
				at[node] += leaves(node, r.Job.VMs[k].Reserved.Memory)
			}
		}
	}
	var busiest, whole time.Duration
	for _, n := range v.layout.current.Nodes() {
		busiest, whole = max(busiest, at[n.ID]), max(whole, at[n.ID], c.suspension(n.ID, n.Capacity.Memory))
	}
	if len(at) > 0 {
		busiest += v.settings.Reservations.Margin
	}
	return reservation.Leads{Suspend: busiest, Start: whole + v.settings.Reservations.Margin}
}

// clearing says how long it takes to clear nodes.
type clearing struct {
	costs    *ctxswitch.Costs
	settings *Settings
}

// suspension returns how long it takes a node to suspend so much memory with parallel transfers.
func (c clearing) suspension(node cluster.NodeID, memory cluster.MiB) time.Duration {
	return c.costs.Duration(cluster.Suspend, memory, node, "") / time.Duration(max(1, c.settings.Execute.Transfers))
}

// removal returns how long it takes to move so much memory off a node, where another VM may have
// to leave first.
func (c clearing) removal(node cluster.NodeID, memory cluster.MiB) time.Duration {
	moves := c.costs.Duration(cluster.Migrate, memory, node, "")
	if !c.settings.Live {
		moves = max(moves, c.costs.Duration(cluster.Suspend, memory, node, "")+c.costs.Duration(cluster.Resume, memory, node, ""))
	}
	return 2 * moves / time.Duration(max(1, c.settings.Execute.Transfers))
}

// awaitsReservation reports whether any vjob waits for its reservation.
func awaitsReservation(vjobs []execute.Report) bool {
	for i := range vjobs {
		if job := vjobs[i].Job; !job.Reservation.IsZero() && job.State.Ready() {
			return true
		}
	}
	return false
}
