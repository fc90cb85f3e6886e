package oar

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"vjob/cluster"
)

// Submission is the body of POST /oarapi/jobs: the options of oarsub by their long names.
type Submission struct {
	Resource    Words  `json:"resource,omitempty"` // alternatives
	Command     string `json:"command,omitempty"`
	Script      string `json:"script,omitempty"`     // text that runs in place of the command, which has its name and arguments
	ScanScript  Switch `json:"scanscript,omitempty"` // read the #OAR lines of the script
	Property    Words  `json:"property,omitempty"`   // all must hold
	Queue       string `json:"queue,omitempty"`
	Type        Words  `json:"type,omitempty"`
	Reservation string `json:"reservation,omitempty"` // "start[, end]" in TimeZone
	TimeZone    string `json:"timezone,omitempty"`    // of all dates of the submission; default: the zone of the daemon
	Anterior    Words  `json:"anterior,omitempty"`
	Project     string `json:"project,omitempty"`
	Name        string `json:"name,omitempty"`
	Directory   string `json:"directory,omitempty"`
	Workdir     string `json:"workdir,omitempty"` // alias of Directory
	Stdout      string `json:"stdout,omitempty"`
	Stderr      string `json:"stderr,omitempty"`
	Notify      string `json:"notify,omitempty"`
	Hold        Switch `json:"hold,omitempty"`
	Array       Number `json:"array,omitempty"`
	ParamFile   string `json:"param_file,omitempty"` // a line of parameters for each sub-job
	// ParamFileName is the name of the parameter file in messages.
	ParamFileName string `json:"param_file_name,omitempty"`

	Checkpoint  Number `json:"checkpoint,omitempty"` // seconds before the end
	Signal      Number `json:"signal,omitempty"`
	Resubmit    Number `json:"resubmit,omitempty"` // the ended job to submit again
	Interactive Switch `json:"interactive,omitempty"`
	Rows        Number `json:"rows,omitempty"`    // of the terminal of an interactive job
	Columns     Number `json:"columns,omitempty"` // of the terminal of an interactive job
	Memory      string `json:"mem,omitempty"`     // of each VM, such as 2GiB
	Image       string `json:"image,omitempty"`   // of each VM
	// InitialRequest is the command line that oarstat -f shows.
	InitialRequest string `json:"initial_request,omitempty"`
}

// Accepted is the answer to a submission.
type Accepted struct {
	ID        int64   `json:"id"`
	IDs       []int64 `json:"ids"`                // of all sub-jobs
	ArrayID   int64   `json:"array_id,omitempty"` // of an array
	Output    string  `json:"cmd_output"`         // what oarsub prints
	Warnings  string  `json:"cmd_warnings,omitempty"`
	Timestamp int64   `json:"api_timestamp"`
	Links     []Link  `json:"links"`
}

// Done is the answer to an order to a job: its status in words, and the output and exit code of the
// command.
type Done struct {
	ID        int64  `json:"id"`
	Status    string `json:"status"`
	Output    string `json:"cmd_output"`
	Errors    string `json:"cmd_errors,omitempty"` // standard error of the command
	Exit      int    `json:"exit_status"`
	Timestamp int64  `json:"api_timestamp"`
	Links     []Link `json:"links"`
}

// Method is the body of POST /oarapi/jobs/{id}.
type Method struct {
	Method string `json:"method"` // delete
}

// Link is a related address.
type Link struct {
	Rel   string `json:"rel"`
	Href  string `json:"href"`
	Title string `json:"title,omitempty"`
}

// Page is one page of a list.
type Page[T any] struct {
	Timestamp int64  `json:"api_timestamp"`
	Items     []T    `json:"items"`
	Links     []Link `json:"links"` // self, next, previous
	Offset    int    `json:"offset"`
	Total     int    `json:"total"`
}

// Failure is the answer to a call that failed. It has vjob's own error besides OAR's.
type Failure struct {
	Code    int    `json:"code"` // HTTP status
	Title   string `json:"title"`
	Message string `json:"message"`
	Exit    int    `json:"exit_status"`          // of OAR's command
	Output  string `json:"cmd_output,omitempty"` // printed before the failure
	Error   Fault  `json:"error"`
}

// Fault is the error as in vjob's own API.
type Fault struct {
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Field   string  `json:"field,omitempty"`
	Fields  []Wrong `json:"fields,omitempty"` // all wrong fields
}

// Wrong is one wrong field of a request.
type Wrong struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Words is a list of texts or numbers, or a single value.
type Words []string

// UnmarshalJSON reads a list or one value.
func (w *Words) UnmarshalJSON(data []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		list = []json.RawMessage{data}
	}
	*w = nil
	for _, raw := range list {
		text, err := jsonWord(raw)
		if err != nil {
			return err
		}
		*w = append(*w, text)
	}
	return nil
}

// Number is an integer that may be written as a string; 0 is unset.
type Number int64

// UnmarshalJSON reads 3 or "3".
func (n *Number) UnmarshalJSON(data []byte) error {
	text, err := jsonWord(data)
	if err != nil {
		return err
	}
	value, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return cluster.BadField("", text, "a whole number")
	}
	*n = Number(value)
	return nil
}

// Switch is a truth value; 1, "1" and "yes" are true.
type Switch bool

// UnmarshalJSON reads a truth value.
func (s *Switch) UnmarshalJSON(data []byte) error {
	text, err := jsonWord(data)
	if err != nil {
		return err
	}
	switch strings.ToLower(text) {
	case "true", "1", "yes", "on":
		*s = true
	case "false", "0", "no", "off", "":
		*s = false
	default:
		return cluster.BadField("", text, "true or false")
	}
	return nil
}

// jsonWord returns a string, a number or a truth value as text.
func jsonWord(raw json.RawMessage) (text string, err error) {
	if len(raw) > 0 && raw[0] == '"' {
		err = json.Unmarshal(raw, &text)
		return text, err
	}
	if len(raw) > 0 && (raw[0] == '{' || raw[0] == '[' || raw[0] == 'n') {
		return "", cluster.BadField("", string(raw), "text or a number")
	}
	return string(raw), nil
}

// Job is a job of OAR in full, with the names of OAR's newest format. Times are seconds since 1970;
// 0 is unset.
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

// Event is an event of a job.
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

// Resource is a node. OAR's resources are cores or other parts of nodes. Here a VM takes any share
// of a node, so a resource is a whole node.
type Resource struct {
	ID        int               `json:"resource_id"`
	Node      string            `json:"network_address"`
	State     string            `json:"state"` // Alive, Absent, Suspected, Dead
	Draining  string            `json:"drain"` // YES, NO
	CPUMilli  int64             `json:"cpu_milli"`
	MemoryMiB int64             `json:"memory_mib"`
	Jobs      []int64           `json:"jobs"` // those visible to the caller
	Labels    map[string]string `json:"properties"`
	Links     []Link            `json:"links,omitempty"`
}

// Properties returns name=value pairs, sorted by name and separated by commas.
func (r *Resource) Properties() string {
	all := map[string]string{
		"resource_id": fmt.Sprint(r.ID), "network_address": r.Node, "state": r.State, "drain": r.Draining,
		"cpu_milli": fmt.Sprint(r.CPUMilli), "memory_mib": fmt.Sprint(r.MemoryMiB),
	}
	maps.Copy(all, r.Labels)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, name+"="+all[name])
	}
	return strings.Join(list, ", ")
}

// Queue is a queue as oarqueue shows it.
type Queue struct {
	Name     string `json:"name"`
	Priority int    `json:"priority"`
	Policy   string `json:"policy"`
	State    string `json:"state"` // Active
}

// Usage is what a user requested and used in a period, in CPU seconds.
type Usage struct {
	User  string `json:"user"`
	First int64  `json:"first_window_start"`
	Last  int64  `json:"last_window_end"`
	Asked int64  `json:"asked"`
	Used  int64  `json:"used"`
}

// Change is the body of POST /oarapi/resources/{name}/state.
type Change struct {
	State string `json:"state"` // Alive, Absent
}
