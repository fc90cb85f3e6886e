package journal

import (
	"time"

	"vjob/cluster"
)

// ReportKey is what a report is grouped by.
type ReportKey string

// The keys of reports.
const (
	ReportUser    ReportKey = "user"
	ReportProject ReportKey = "project"
	ReportQueue   ReportKey = "queue"
	ReportNode    ReportKey = "node"
	ReportOutcome ReportKey = "outcome"
)

// ReportKeys lists all keys.
var ReportKeys = []ReportKey{ReportUser, ReportProject, ReportQueue, ReportNode, ReportOutcome}

// ReportFilter chooses what a report adds up. Empty fields do not narrow.
type ReportFilter struct {
	// Borders are those of the periods, in order: n + 1 instants for n periods.
	Borders []time.Time
	By      []ReportKey
	User    string
	Project string
	Queue   string
}

// Report is what vjobs have used and how they have fared.
type Report struct {
	Rows  []ReportRow // in order of periods; in each, the largest reserved CPU time first
	Total ReportRow   // of all periods
}

// ReportRow is one group of vjobs in one period. Nil is unknown.
type ReportRow struct {
	From, Until time.Time
	Keys        []string // one for each key of the filter; the outcome of a vjob that has not ended is open

	Reserved   int64  // milliseconds of one processor that were reserved while vjobs ran
	Used       int64  // milliseconds of CPU time that guests got
	MemoryTime int64  // MiB·s on nodes
	Energy     *int64 // millijoules
	// UnknownUse counts vjobs that ran in the period before their use was recorded by the hour; the sums are without it.
	UnknownUse int

	Started  int // vjobs that first ran in the period
	Wait     *Spread
	Ended    int // vjobs that ended in the period
	Outcomes map[cluster.Outcome]int
	Slowdown *SlowdownSpread
	Lost     LostWork

	// CapacityTime is what the nodes offered in the period, in milliseconds of one processor.
	CapacityTime *int64
}

// Spread is the distribution of waiting times from the submission to the first start.
type Spread struct {
	Mean, Median, P95, Max time.Duration // the median and the 95th percentile by the nearest rank
}

// SlowdownSpread is the distribution of the bounded slowdowns of the vjobs that ran and have ended: the time from the
// submission to the end in parts of the running time, which counts as ten seconds at least (Feitelson, 2001).
type SlowdownSpread struct{ Mean, Median float64 }

// LostWork is what vjobs have run for nothing: they started again from scratch, or failed because VMs were lost.
type LostWork struct {
	Runs     int           // that were lost
	Requeues int           // of these by an order of a user
	Losses   int           // of these with VMs or nodes
	Running  time.Duration // of all
	Reserved int64         // milliseconds of one processor
	Unknown  int           // of the runs, those of which the reserved CPU time is not known
}
