package rest

// Job is a job of OAR in full. The names are those of OAR's newest format; times are
// seconds since 1970, and 0 is none.
type Job struct {
	ID             int64    `json:"id"`
	ArrayID        int64    `json:"array_id"`
	ArrayIndex     int      `json:"array_index"`
	Name           *string  `json:"name"`
	Owner          string   `json:"owner"`
	User           string   `json:"job_user"`
	State          string   `json:"state"`
	Resources      []int    `json:"assigned_resources"`
	Nodes          []string `json:"assigned_network_address"`
	Queue          string   `json:"queue"`
	Command        string   `json:"command"`
	Directory      string   `json:"launching_directory"`
	Type           string   `json:"type"` // PASSIVE, INTERACTIVE
	Properties     string   `json:"properties"`
	Reservation    string   `json:"reservation"` // None, Scheduled
	Walltime       int64    `json:"walltime"`
	Submitted      int64    `json:"submission_time"`
	Started        int64    `json:"start_time"`
	Stopped        int64    `json:"stop_time"`
	Message        string   `json:"message"`
	Scheduled      int64    `json:"scheduled_start"`
	Resubmits      int64    `json:"resubmit_job_id"`
	Events         []Event  `json:"events"`
	Wanted         string   `json:"wanted_resources"`
	Project        string   `json:"project"`
	CPUSet         string   `json:"cpuset_name"`
	Types          []string `json:"types"`
	Dependencies   []int64  `json:"dependencies"`
	ExitCode       *int     `json:"exit_code"`
	Stdout         string   `json:"stdout_file"`
	Stderr         string   `json:"stderr_file"`
	InitialRequest string   `json:"initial_request"`
}

// Event is what happened to a job.
type Event struct {
	ID   int64  `json:"event_id"`
	Type string `json:"type"`
	At   int64  `json:"date"`
	Text string `json:"description"`
}

// Item is a job in GET /oarapi/jobs.
type Item struct {
	ID        int64   `json:"id"`
	Name      *string `json:"name"`
	Owner     string  `json:"owner"`
	Queue     string  `json:"queue"`
	State     string  `json:"state"`
	Submitted int64   `json:"submission"`
	Timestamp int64   `json:"api_timestamp"`
	Links     []Link  `json:"links"`
}

// Detail is a job in full, with its links.
type Detail struct {
	Job
	Timestamp int64  `json:"api_timestamp"`
	Links     []Link `json:"links"`
}
