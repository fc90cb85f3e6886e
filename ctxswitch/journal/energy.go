package journal

import (
	"time"

	"vjob/cluster"
)

// NodeHour is what a node has drawn within one hour of UTC. The energy of one node and
// hour is added up. What all nodes have drawn for vjobs is exactly what the [VJobHour]s of
// the hour say.
type NodeHour struct {
	Hour        time.Time // when it began
	Node        cluster.NodeID
	Millijoules int64
	Unused      int64 // of these for no vjob: the node was empty, or off
}

// VJobHour is what the shares of one vjob of the nodes have drawn within one hour of UTC.
type VJobHour struct {
	Hour                  time.Time
	VJob                  cluster.VJobID
	Owner, Project, Queue string
	Millijoules           int64
	// Shifted: the vjob might have waited for a lower price. The store adds how long it
	// has waited.
	Shifted bool
}

// EnergyFilter chooses what is added up of the energy that was drawn.
type EnergyFilter struct {
	From, To time.Time // hours that begin from then on, and before then
	By       EnergyBy
	Owner    string // only the vjobs of this user; "": all vjobs
}

// EnergyBy is what energy is added up by.
type EnergyBy string

// The keys by which energy is added up.
const (
	ByOwner   EnergyBy = "owner"
	ByProject EnergyBy = "project"
	ByQueue   EnergyBy = "queue"
	ByVJob    EnergyBy = "vjob"
	ByNode    EnergyBy = "node"
)

// EnergyRow is the energy of one hour and name. Rows with the same two differ in the wait.
type EnergyRow struct {
	Hour        time.Time
	Name        string // "" in projects: no project; numbers of vjobs are decimal
	Unused      bool   // drawn for no vjob
	Waited      time.Duration
	Millijoules int64
}
