package admission

// Rule sets terms of the jobs that match its conditions, or refuses them. It may print a message.
type Rule struct {
	Name   string `json:"name"` // for the administrator
	When   When   `json:"when"`
	Set    Set    `json:"set"`
	Say    string `json:"say"`    // message to the user
	Refuse string `json:"refuse"` // message to the user; refuses the job
}

// When is a list of conditions, all of which must hold; empty conditions hold. Texts may contain
// {user}, {queue}, {project}, and the {type} or {resource} that matched.
type When struct {
	Users     []string `json:"users"`      // the user is one of these
	Groups    []string `json:"groups"`     // the user is in one of these
	NotGroups []string `json:"not_groups"` // the user is in no group of these
	Queues    []string `json:"queues"`     // the job names one of these; "" stands for no queue
	NotQueues []string `json:"not_queues"`
	Projects  []string `json:"projects"`
	// Kinds are batch, interactive and reservation.
	Kinds     []string `json:"kinds"`
	Types     []string `json:"types"`     // the job has one of these, with any value
	NotTypes  []string `json:"not_types"` // the job has no type of these
	Resources []string `json:"resources"` // the job requests a level with such a name
	// UnknownTypes holds for a job with a type that neither OAR nor this list has.
	UnknownTypes *[]string `json:"unknown_types"`
	// NoWalltime holds for a job with an alternative without walltime.
	NoWalltime   bool   `json:"no_walltime"`
	WalltimeOver string `json:"walltime_over"` // of an alternative, h:m:s
	NoMemory     bool   `json:"no_memory"`     // the memory of VMs is not given
	MemoryOver   string `json:"memory_over"`   // of each VM, such as 64GiB
	NoImage      bool   `json:"no_image"`      // the image of VMs is not given
	// Each limit is exceeded by the job together with the jobs that the user has.
	ArrayOver        *int `json:"array_over"`        // sub-jobs
	ReservationsOver *int `json:"reservations_over"` // waiting ones, including this job
	JobsOver         *int `json:"jobs_over"`         // jobs that have not ended, including this one
}

// Set is what a rule changes.
type Set struct {
	Queue    string   `json:"queue"`
	Project  string   `json:"project"`
	Types    []string `json:"types"`    // added
	Property string   `json:"property"` // nodes must match it, too
	// Walltime applies to the alternatives that matched: those without walltime, or above a limit; else
	// to all.
	Walltime string `json:"walltime"`
	Memory   string `json:"memory"` // of each VM, such as 2GiB
	Image    string `json:"image"`  // of each VM
}

// The kinds of jobs.
const (
	Batch       = "batch"
	Interactive = "interactive"
	Reservation = "reservation"
)
