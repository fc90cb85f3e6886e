package decide

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/duration"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/placement"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/energy/price"
	"vjob/hypervisor"
	"vjob/queue"
	"vjob/queue/pool"
	"vjob/queue/quota"
)

// Facts are the inputs of a decision.
type Facts struct {
	Now time.Time
	// VJobs have not ended; they are in queue order. The view takes the list over.
	VJobs []execute.Report
	// Nodes are in the states in which they count for placing VMs.
	Nodes []*execute.NodeReport
	// Site is that of nodes that hardly differ, such as those of the last decision; may be nil.
	Site     *Site
	Bookings Bookings
	// TransfersAhead is for how long the transfer slots of nodes are taken by what is under way or promised.
	TransfersAhead map[cluster.NodeID][]time.Duration
	// Hardware is the virtual hardware of VMs; nil while all nodes are alike.
	Hardware map[cluster.VMID]execute.Hardware
	// Images is the free image space of each node, without what is promised.
	Images hypervisor.Spaces
	// NoImages is why images can be neither written nor read; "" if they can.
	NoImages string
	// Past is the use that quotas count from earlier.
	Past *quota.Ledger
	// Rules of the cluster, as texts. Reader checks which of them can be kept on these nodes.
	Rules  []string
	Reader *placement.Reader
	// Budgets of power that hold side by side.
	Budgets budget.Schedules
	// Least is what a node draws at least while it is being switched.
	Least       map[cluster.NodeID]energy.Watts
	Wanted      []Wanted                  // nodes that are off and should come on, in order
	Prices      *price.Series             // of energy; nil if unknown
	Waits       map[cluster.VJobID]string // the unmet dependencies of each vjob, as text; "" if none
	Quarantined map[cluster.VJobID]Quarantined
	Approvals   Approvals
	// Learned is how long actions take on the nodes; nil: as the settings say.
	Learned *duration.Estimates
	// Pools are the pools without VMs, on the capacity of all nodes. They are nil, and nothing is checked and divided,
	// while the cluster has no pools and no vjob has shares, a CPU reservation or a CPU limit of its own.
	Pools *pool.Hierarchy
	// Demand returns the CPU that a VM that has run demands; nil: what it was submitted with.
	Demand func(vm cluster.VMID) cluster.MilliCPU
}

// Offered returns the nodes with what they offer to vjobs.
func (f *Facts) Offered() []cluster.Node { return f.Site.With(f.Nodes, 0).empty.Nodes() }

// runsAt reports whether a running vjob may still run at an instant, or whether the
// reservation of a vjob covers it.
func (f *Facts) runsAt(r *execute.Report, at time.Time) bool {
	left := max(0, r.Job.Walltime-r.Ran)
	if r.Bound == cluster.VMRunning {
		return r.Job.Walltime == 0 || at.Before(f.Now.Add(left))
	}
	from := r.Job.Reservation
	return !from.IsZero() && r.Job.State.Ready() && !at.Before(from) && at.Before(from.Add(left))
}

// reservedAt reports whether the reservation of a vjob covers an instant.
func (f *Facts) reservedAt(r *execute.Report, at time.Time) bool {
	return !r.Job.Reservation.IsZero() && f.runsAt(r, at)
}

// reservationDue reports whether a vjob waits although its reservation has begun.
func (f *Facts) reservationDue(job *cluster.VJob) bool {
	return !job.Reservation.IsZero() && !f.Now.Before(job.Reservation) && job.State.Ready() && !job.Held
}

// unsuspendable returns why a running vjob is not suspended for a drain; "" if it can be.
func (f *Facts) unsuspendable(r *execute.Report) string {
	switch job := r.Job; {
	case job.Container:
		return "a container is not suspended"
	case !job.Reservation.IsZero():
		return "it has its room by a reservation"
	case job.Preemption == cluster.Never:
		return "it never makes room"
	case queue.IsEnded(job):
		return "it would have to start anew"
	case f.Now.Before(r.Record.Since.Add(time.Duration(job.MinRun))):
		return "it makes no room before " + cluster.Clock(r.Record.Since.Add(time.Duration(job.MinRun)), f.Now)
	}
	return ""
}

// Bookings returns what is booked for single VMs. The executor keeps it.
type Bookings interface {
	// Booked returns what Need and Cap return for the VMs of a live vjob, by rank, and what they demand.
	Booked(id cluster.VJobID) []execute.Booking
	// Need returns what a VM counts for by the policy, also if no node has it.
	Need(vm cluster.VMID) cluster.Resources
	// Destination returns the node that a VM under way goes to; "" if none.
	Destination(vm cluster.VMID) cluster.NodeID
	// Cap returns the most CPU that a VM may use where it is; 0 if it is on no node.
	Cap(vm cluster.VMID) cluster.MilliCPU
	// Holds returns the nodes on which a VM under way has, or was promised, resources.
	Holds(vm cluster.VMID) []cluster.NodeID
}

// Quarantined is why a vjob is quarantined, and until when: a decision with it has failed.
type Quarantined struct {
	Why   string
	Until time.Time
}
