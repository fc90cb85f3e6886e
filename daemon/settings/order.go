package settings

import "vjob/cluster/calendar"

// Order are the settings of the queue order and of quotas, see docs/reference/queues-and-quotas.md.
// [Settings.Arrange] converts them for the scheduler.
type Order struct {
	TimeZone     string    `json:"time_zone"`
	DefaultQueue string    `json:"default_queue"`
	Queues       []Queue   `json:"queues"`
	Projects     []Project `json:"projects"`
	Priority     Priority  `json:"priority"`
	FairShare    FairShare `json:"fair_share"`
	Quotas       []Quota   `json:"quotas"`
}

// Queue is a named queue.
type Queue struct {
	Name     string      `json:"name"`
	Priority int         `json:"priority"`
	Policy   string      `json:"policy"` // "" is policy.name
	Pool     string      `json:"pool"`   // of its vjobs, unless they or their project have one
	Limits   QueueLimits `json:"limits"`
}

// QueueLimits limit each vjob of a queue; 0 is no limit.
type QueueLimits struct {
	VMs      int      `json:"vms"`
	CPU      CPU      `json:"cpu"`
	Memory   Size     `json:"memory"`
	Walltime Duration `json:"walltime"`
}

// Project is a project and its users.
type Project struct {
	Name  string   `json:"name"`
	Users []string `json:"users"` // by name, or each
	Pool  string   `json:"pool"`  // of its vjobs that name none
}

// Priority are the points that add up to the priority of a vjob.
type Priority struct {
	User      int      `json:"user"`
	Queue     int      `json:"queue"`
	Age       int      `json:"age"`
	FairShare int      `json:"fair_share"`
	Size      int      `json:"size"`
	Deadline  int      `json:"deadline"`
	Lead      int      `json:"lead"`
	OldAge    Duration `json:"old_age"`
	Horizon   Duration `json:"horizon"`
	SizeFirst string   `json:"size_first"` // small, large
}

// FairShare are the weights of past usage and the shares of projects and users.
type FairShare struct {
	HalfLife Duration           `json:"half_life"`
	CPU      float64            `json:"cpu"`
	Memory   float64            `json:"memory"` // of a GiB
	Damping  float64            `json:"damping"`
	Leap     float64            `json:"leap"`
	Share    float64            `json:"share"`
	Shares   map[string]float64 `json:"shares"`
}

// Quota is a limit for some users, projects and queues.
type Quota struct {
	Name string `json:"name"`
	// User, Project and Queue are a name, each, or "" for all together.
	User    string      `json:"user"`
	Project string      `json:"project"`
	Queue   string      `json:"queue"`
	Within  Duration    `json:"within"` // of cpu_hours
	Limits  QuotaLimits `json:"limits"`
	Windows []Window    `json:"windows"` // in which other limits hold instead
}

// Window is a window in time with limits of its own.
type Window struct {
	Name   string          `json:"name"`
	When   calendar.Window `json:"when"`
	Limits QuotaLimits     `json:"limits"`
}

// QuotaLimits are limits on simultaneous use; nil is no limit, and 0 allows nothing.
type QuotaLimits struct {
	VMs      *int     `json:"vms"`
	CPU      *CPU     `json:"cpu"`
	Memory   *Size    `json:"memory"`
	CPUHours *float64 `json:"cpu_hours"`
}
