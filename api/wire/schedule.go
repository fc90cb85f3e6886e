package wire

import "time"

// Schedule is the forecast: the start and end of each vjob, and the resources in use, if all use
// up their walltimes and no vjob is submitted.
type Schedule struct {
	At        time.Time `json:"at"`
	CPUMilli  int64     `json:"cpu_milli"` // of the nodes that take VMs, as memory_mib
	MemoryMiB int64     `json:"memory_mib"`
	Nodes     int       `json:"nodes"` // that take VMs
	VJobs     []Slot    `json:"vjobs"` // that the caller may see, in queue order
	Use       []Use     `json:"use"`   // of all
}

// Slot is one vjob in the schedule.
type Slot struct {
	ID        int64      `json:"id"`
	Name      string     `json:"name,omitempty"`
	Owner     string     `json:"owner"`
	State     string     `json:"state"`
	VMCount   int        `json:"vm_count"`
	CPUMilli  int64      `json:"cpu_milli"` // what its VMs count for together, as memory_mib
	MemoryMiB int64      `json:"memory_mib"`
	Runs      bool       `json:"runs"`            // it runs, or starts now
	Start     *time.Time `json:"start,omitempty"` // absent: unknown
	End       *time.Time `json:"end,omitempty"`   // absent: no walltime, or unknown
	Reserved  bool       `json:"reserved,omitempty"`
	Inner     int64      `json:"inner,omitempty"` // the container in which it runs
	Why       string     `json:"why"`             // why it runs or waits
}

// Use is what is in use from an instant until the next.
type Use struct {
	At        time.Time `json:"at"`
	CPUMilli  int64     `json:"cpu_milli"`
	MemoryMiB int64     `json:"memory_mib"`
	Nodes     int       `json:"nodes"` // at least
}
