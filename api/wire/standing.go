package wire

import "time"

// Rank is the priority of a vjob in the queue: larger ones come first, equal ones in the order of
// submission.
type Rank struct {
	Points int64      `json:"points"` // the sum
	Parts  []RankPart `json:"parts"`  // its summands, without those of 0 points
}

// RankPart is one part of a rank.
type RankPart struct {
	Name   string `json:"name"`   // queue, as submitted, age, fair share, size, deadline, runs
	Points int64  `json:"points"` // may be negative
}

// QueueList is the answer to GET /v1/queues, those with larger priorities first.
type QueueList struct {
	Queues []Queue `json:"queues"` // with the largest priority first
}

// Queue is a queue with the number of its vjobs. 0 is no limit.
type Queue struct {
	Name            string `json:"name"`                       // of the settings
	Priority        int    `json:"priority"`                   // points that its vjobs get
	Policy          string `json:"policy"`                     // by which its vjobs start
	Default         bool   `json:"default,omitempty"`          // takes what names no queue
	MostVMs         int    `json:"most_vms,omitempty"`         // that a vjob may have
	MostCPUMilli    int64  `json:"most_cpu_milli,omitempty"`   // that a vjob may reserve, in thousandths of a processor
	MostMemoryMiB   int64  `json:"most_memory_mib,omitempty"`  // that a vjob may reserve
	WalltimeSeconds int64  `json:"walltime_seconds,omitempty"` // the longest of a vjob
	Running         int    `json:"running"`                    // vjobs that run, or are under way to
	Waiting         int    `json:"waiting"`                    // all others that have not ended
}

// QuotaList is the answer to GET /v1/quotas.
type QuotaList struct {
	Quotas []Quota `json:"quotas"` // in the order of the settings
}

// Quota is the usage of a quota by the vjobs that it counts together. Absent measures have no
// limit now.
type Quota struct {
	Name          string     `json:"name"`                     // of the settings
	Window        string     `json:"window,omitempty"`         // in force now
	Until         *time.Time `json:"until,omitempty"`          // when the limits may change
	User          string     `json:"user,omitempty"`           // absent: all users; the same for:
	Project       string     `json:"project,omitempty"`        // absent: all projects
	Queue         string     `json:"queue,omitempty"`          // absent: all queues
	VMs           *Measure   `json:"vms,omitempty"`            // VMs that run at once
	CPUMilli      *Measure   `json:"cpu_milli,omitempty"`      // CPU in use at once, in thousandths of a processor
	MemoryMiB     *Measure   `json:"memory_mib,omitempty"`     // memory in use at once
	CPUSeconds    *Measure   `json:"cpu_seconds,omitempty"`    // used, and reserved by running vjobs
	WithinSeconds int64      `json:"within_seconds,omitempty"` // how far back CPU time counts
}

// Measure is a limit, and what is used of it.
type Measure struct {
	Used  int64 `json:"used"`  // now
	Limit int64 `json:"limit"` // the most
}

// ShareList is the answer to GET /v1/shares: the accounts, each before those below it.
type ShareList struct {
	HalfLifeSeconds int64   `json:"half_life_seconds"` // in which usage counts half
	Shares          []Share `json:"shares"`            // parents before children
}

// Share is the share of an account in the cluster, and its recent usage.
type Share struct {
	Account string  `json:"account"` // "physics", or "physics/ann"
	Share   float64 `json:"share"`   // relative to its siblings; 0 while it has no usage and no stated share
	Part    float64 `json:"part"`    // its target part of the cluster, from 0 to 1
	Used    float64 `json:"used"`    // decayed usage, in weighted CPU seconds
	Taken   float64 `json:"taken"`   // its part of all usage, from 0 to 1
	Factor  float64 `json:"factor"`  // 1 for nothing used, 0.5 for just its part, and less for more
}
