package admission

// Rule says what becomes of a job for which its conditions hold. It sets something,
// or refuses, and may say so.
type Rule struct {
	Name   string `json:"name"` // for the administrator
	When   When   `json:"when"`
	Set    Set    `json:"set"`
	Say    string `json:"say"`    // told to the user
	Refuse string `json:"refuse"` // likewise, and the job is not taken
}

// When is conditions, all of which have to hold; those that are not given do. In
// texts stand {user}, {queue}, {project}, and the {type} or {resource} by which a rule
// holds.
type When struct {
	Users     []string `json:"users"`      // one of these submits it
	Groups    []string `json:"groups"`     // who is in one of these
	NotGroups []string `json:"not_groups"` // and in none of these
	Queues    []string `json:"queues"`     // it is for one of these; "" is none
	NotQueues []string `json:"not_queues"`
	Projects  []string `json:"projects"`
	// Kinds are batch, interactive and reservation.
	Kinds     []string `json:"kinds"`
	Types     []string `json:"types"`     // it has one of these, whatever its value
	NotTypes  []string `json:"not_types"` // it has none of these
	Resources []string `json:"resources"` // it asks for a level of such a name
	// UnknownTypes holds for a job with a type that neither OAR nor this list knows.
	UnknownTypes *[]string `json:"unknown_types"`
	// NoWalltime holds for a job with an alternative that has no walltime.
	NoWalltime   bool   `json:"no_walltime"`
	WalltimeOver string `json:"walltime_over"` // of an alternative, h:m:s
	NoMemory     bool   `json:"no_memory"`     // it does not say how much each VM has
	MemoryOver   string `json:"memory_over"`   // of each VM, such as 64GiB
	NoImage      bool   `json:"no_image"`      // it does not say what its VMs are made of
	// The numbers are exceeded by what the user asks for, or has already.
	ArrayOver        *int `json:"array_over"`        // sub-jobs
	ReservationsOver *int `json:"reservations_over"` // that wait, this one among them
	JobsOver         *int `json:"jobs_over"`         // that have not ended, this one among them
}

// Set is what a rule changes.
type Set struct {
	Queue    string   `json:"queue"`
	Project  string   `json:"project"`
	Types    []string `json:"types"`    // are added
	Property string   `json:"property"` // has to hold besides
	// Walltime is that of the alternatives by which the rule holds: those without one,
	// or those above a limit; else of all.
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
