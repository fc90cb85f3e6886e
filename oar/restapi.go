package oar

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Submission is the body of POST /oarapi/jobs: the options of oarsub by their long
// names.
type Submission struct {
	Resource    Words  `json:"resource,omitempty"` // several are alternatives
	Command     string `json:"command,omitempty"`
	Script      string `json:"script,omitempty"`     // a text that is run in place of the command, which names it and has its arguments
	ScanScript  Switch `json:"scanscript,omitempty"` // read the #OAR lines of the script
	Property    Words  `json:"property,omitempty"`   // all have to hold
	Queue       string `json:"queue,omitempty"`
	Type        Words  `json:"type,omitempty"`
	Reservation string `json:"reservation,omitempty"` // "start[, end]" in the time zone
	TimeZone    string `json:"timezone,omitempty"`    // of all dates in the submission; "" is that of the daemon
	Anterior    Words  `json:"anterior,omitempty"`
	Project     string `json:"project,omitempty"`
	Name        string `json:"name,omitempty"`
	Directory   string `json:"directory,omitempty"`
	Workdir     string `json:"workdir,omitempty"` // the same
	Stdout      string `json:"stdout,omitempty"`
	Stderr      string `json:"stderr,omitempty"`
	Notify      string `json:"notify,omitempty"`
	Hold        Switch `json:"hold,omitempty"`
	Array       Number `json:"array,omitempty"`
	ParamFile   string `json:"param_file,omitempty"` // a line of parameters for each sub-job
	// ParamFileName is what the file is called, for messages.
	ParamFileName string `json:"param_file_name,omitempty"`

	Checkpoint  Number `json:"checkpoint,omitempty"` // seconds before the end
	Signal      Number `json:"signal,omitempty"`
	Resubmit    Number `json:"resubmit,omitempty"` // a job that has ended, to be submitted again
	Interactive Switch `json:"interactive,omitempty"`
	Rows        Number `json:"rows,omitempty"`    // of the terminal of an interactive job
	Columns     Number `json:"columns,omitempty"` // likewise
	Memory      string `json:"mem,omitempty"`     // of each VM, such as 2GiB
	Image       string `json:"image,omitempty"`   // of each VM
	// InitialRequest is the command line, as oarstat -f shows it.
	InitialRequest string `json:"initial_request,omitempty"`
}

// Accepted answers a submission.
type Accepted struct {
	ID        int64   `json:"id"`
	IDs       []int64 `json:"ids"`                // of all sub-jobs
	ArrayID   int64   `json:"array_id,omitempty"` // of an array
	Output    string  `json:"cmd_output"`         // what oarsub prints
	Warnings  string  `json:"cmd_warnings,omitempty"`
	Timestamp int64   `json:"api_timestamp"`
	Links     []Link  `json:"links"`
}

// Done answers what was asked of a job: the status, in words, and what the command
// prints and exits with.
type Done struct {
	ID        int64  `json:"id"`
	Status    string `json:"status"`
	Output    string `json:"cmd_output"`
	Errors    string `json:"cmd_errors,omitempty"` // the same, beside its output
	Exit      int    `json:"exit_status"`
	Timestamp int64  `json:"api_timestamp"`
	Links     []Link `json:"links"`
}

// Method is the body of POST /oarapi/jobs/{id}.
type Method struct {
	Method string `json:"method"` // delete
}

// Link is where else to look.
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

// Failure is every answer that is not a success. It has our own error besides OAR's.
type Failure struct {
	Code    int    `json:"code"` // of HTTP
	Title   string `json:"title"`
	Message string `json:"message"`
	Exit    int    `json:"exit_status"`          // of OAR's command
	Output  string `json:"cmd_output,omitempty"` // what the command had printed before
	Error   Fault  `json:"error"`
}

// Fault is an error in our own shape.
type Fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

// Words is a list of texts or numbers, or a single one.
type Words []string

// UnmarshalJSON reads a list or one word.
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

// Number is a whole number, which may stand in a text; 0 is none.
type Number int64

// UnmarshalJSON reads 3 or "3".
func (n *Number) UnmarshalJSON(data []byte) error {
	text, err := jsonWord(data)
	if err != nil {
		return err
	}
	value, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return fmt.Errorf("%.40q is no whole number", text)
	}
	*n = Number(value)
	return nil
}

// Switch is true for true, 1, "1" and "yes".
type Switch bool

// UnmarshalJSON reads a switch.
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
		return fmt.Errorf("%.40q is neither true nor false", text)
	}
	return nil
}

// jsonWord is a text, a number or a truth value as a text.
func jsonWord(raw json.RawMessage) (text string, err error) {
	if len(raw) > 0 && raw[0] == '"' {
		err = json.Unmarshal(raw, &text)
		return text, err
	}
	if len(raw) > 0 && (raw[0] == '{' || raw[0] == '[' || raw[0] == 'n') {
		return "", fmt.Errorf("%.40s is neither a text nor a number", raw)
	}
	return string(raw), nil
}

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

// Resource is a node. OAR's resources are cores or parts of nodes; here a VM takes
// from a node what it needs, so that a resource is a whole node.
type Resource struct {
	ID        int               `json:"resource_id"`
	Node      string            `json:"network_address"`
	State     string            `json:"state"` // Alive, Absent, Suspected, Dead
	Draining  string            `json:"drain"` // YES, NO
	CPUMilli  int64             `json:"cpu_milli"`
	MemoryMiB int64             `json:"memory_mib"`
	Jobs      []int64           `json:"jobs"` // those that the caller may see
	Labels    map[string]string `json:"properties"`
	Links     []Link            `json:"links,omitempty"`
}

// Properties are name=value with commas, in the order of the names.
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

// Queue is a queue.
type Queue struct {
	Name     string `json:"name"`
	Priority int    `json:"priority"`
	Policy   string `json:"policy"`
	State    string `json:"state"` // Active
}

// Usage is what a user has asked for and used in a stretch of time, in seconds of
// processors.
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
