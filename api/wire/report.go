package wire

import "time"

// Report is what vjobs have used in a time, and how they have fared.
type Report struct {
	Since time.Time   `json:"since"` // the beginning of the time
	Until time.Time   `json:"until"` // the end of the time
	Zone  string      `json:"zone"`  // in which days, weeks and months begin
	By    []string    `json:"by"`    // user, project, queue, node, outcome, day, week, month
	Rows  []ReportRow `json:"rows"`  // periods in order; in each, the largest reserved CPU time first
	Total ReportRow   `json:"total"`
}

// ReportRow is one group of vjobs. Null is unknown.
type ReportRow struct {
	Since time.Time `json:"since"` // of its day, week or month, otherwise of the report
	Until time.Time `json:"until"` // the end of the day, week or month

	User    *string `json:"user,omitempty"`    // absent unless the report is by it, as the next four
	Project *string `json:"project,omitempty"` // absent unless the report is by project
	Queue   *string `json:"queue,omitempty"`   // absent unless the report is by queue
	Node    *string `json:"node,omitempty"`    // absent unless the report is by node
	Outcome *string `json:"outcome,omitempty"` // open: the vjob has not ended

	// What vjobs used in the time, by the hours of UTC that begin in it.
	ReservedCPUHours *float64 `json:"reserved_cpu_hours"` // of one processor, reserved while they ran
	UsedCPUHours     *float64 `json:"used_cpu_hours"`     // of one processor, that their guests got
	MemoryGiBHours   *float64 `json:"memory_gib_hours"`   // on nodes
	EnergyKWh        *float64 `json:"energy_kwh"`         // that its share of the nodes has drawn
	CapacityPercent  *float64 `json:"capacity_percent"`   // the reserved processors in parts of those that the nodes offered
	UnknownUseVJobs  int      `json:"unknown_use_vjobs"`  // ran before use was recorded by the hour; the figures above are without them

	// The waiting times, from the submission to the first start, of the vjobs that first ran in the time.
	Started           int      `json:"started"`
	WaitMeanSeconds   *float64 `json:"wait_mean_seconds"`   // from submission to the first start
	WaitMedianSeconds *float64 `json:"wait_median_seconds"` // from submission to the first start
	WaitP95Seconds    *float64 `json:"wait_p95_seconds"`    // from submission to the first start; 95 % waited no longer
	WaitMaxSeconds    *float64 `json:"wait_max_seconds"`    // from submission to the first start

	// The vjobs that ended in the time. The bounded slowdown is the time from the submission to the end in parts of the
	// running time, which counts as ten seconds at least.
	Ended          int            `json:"ended"`
	Outcomes       map[string]int `json:"outcomes"`        // completed, failed, overdue, deleted, broken
	SlowdownMean   *float64       `json:"slowdown_mean"`   // of waiting and running time over running time
	SlowdownMedian *float64       `json:"slowdown_median"` // of waiting and running time over running time

	// Runs that began again from scratch, or failed with their VMs, in the time.
	LostRuns         int      `json:"lost_runs"`
	LostPreempted    int      `json:"lost_preempted"`     // of the runs, those that the scheduler ended for others
	LostRequeued     int      `json:"lost_requeued"`      // those that a user had requeued
	LostFailed       int      `json:"lost_failed"`        // those whose VMs were lost
	LostRunningHours float64  `json:"lost_running_hours"` // that those runs had taken
	LostCPUHours     *float64 `json:"lost_cpu_hours"`     // of one processor, reserved for them
}
