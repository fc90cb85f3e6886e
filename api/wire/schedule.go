package wire

import "time"

// Schedule is the forecast: the start and end of each vjob, and the resources in use, if all use
// up their walltimes and no vjob is submitted.
type Schedule struct {
	At        time.Time `json:"at"`         // when it was made
	CPUMilli  int64     `json:"cpu_milli"`  // of the nodes that take VMs, as memory_mib
	MemoryMiB int64     `json:"memory_mib"` // of all nodes that count
	Nodes     int       `json:"nodes"`      // that take VMs
	VJobs     []Slot    `json:"vjobs"`      // that the caller may see, in queue order
	Use       []Use     `json:"use"`        // of all
}

// Slot is one vjob in the schedule.
type Slot struct {
	ID        int64      `json:"id"`                 // its number
	Name      string     `json:"name,omitempty"`     // of the vjob
	Owner     string     `json:"owner"`              // the account that submitted it
	State     string     `json:"state"`              // of the vjob
	VMCount   int        `json:"vm_count"`           // how many VMs it has
	CPUMilli  int64      `json:"cpu_milli"`          // what its VMs count for together, as memory_mib
	MemoryMiB int64      `json:"memory_mib"`         // sum over its VMs
	Runs      bool       `json:"runs"`               // it runs, or starts now
	Start     *time.Time `json:"start,omitempty"`    // absent: unknown
	End       *time.Time `json:"end,omitempty"`      // absent: no walltime, or unknown
	Reserved  bool       `json:"reserved,omitempty"` // it starts at the time of its reservation
	Inner     int64      `json:"inner,omitempty"`    // the container in which it runs
	Why       string     `json:"why"`                // why it runs or waits
}

// Use is what is in use from an instant until the next.
type Use struct {
	At        time.Time `json:"at"`         // from then on
	CPUMilli  int64     `json:"cpu_milli"`  // in use, in thousandths of a processor
	MemoryMiB int64     `json:"memory_mib"` // in use
	Nodes     int       `json:"nodes"`      // at least
}
