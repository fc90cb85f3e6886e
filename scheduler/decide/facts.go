package decide

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/placement"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/energy/price"
	"vjob/hypervisor"
	"vjob/queue/quota"
)

// Facts are what is known when a pass begins.
type Facts struct {
	Now time.Time
	// VJobs are those that have not ended, in the order in which they are looked at. The
	// picture takes the list over.
	VJobs []execute.Report
	// Nodes are in the states in which they count for placing VMs.
	Nodes    []execute.NodeReport
	Bookings Bookings
	// Images is the room for images where each node saves, beside what is promised.
	Images hypervisor.Spaces
	// NoImages is why no image can be written or read at all; "" when they can.
	NoImages string
	// Past is what quotas count that was used before.
	Past *quota.Ledger
	// Rules are those of the cluster, as texts, and Reader tells which rules can be
	// kept at all on these nodes.
	Rules  []string
	Reader *placement.Reader
	// Budgets of power hold side by side.
	Budgets budget.Books
	// Least is what nodes draw at least, whatever runs there, since they are being switched.
	Least       map[cluster.NodeID]energy.Watts
	Wanted      []Wanted                  // nodes that are off and shall come on, in order
	Prices      *price.Series             // of energy; nil: nobody knows them
	Waits       map[cluster.VJobID]string // for what others a vjob has to wait; "" is for nothing
	Quarantined map[cluster.VJobID]Quarantined
}

// Bookings tell of single VMs what is booked for them. The executor keeps them.
type Bookings interface {
	// Need is what a VM counts for.
	Need(vm cluster.VMID) cluster.Resources
	// Destination is the node on which a VM under way will be; "" is none.
	Destination(vm cluster.VMID) cluster.NodeID
	// Most is the CPU that a VM may use at most where it is; 0 if it is nowhere.
	Most(vm cluster.VMID) cluster.MilliCPU
	// Holds are the nodes on which a VM under way has, or was promised, room.
	Holds(vm cluster.VMID) []cluster.NodeID
}

// Quarantined is why a vjob is set aside, since a decision with it has failed, and until when.
type Quarantined struct {
	Why   string
	Until time.Time
}
