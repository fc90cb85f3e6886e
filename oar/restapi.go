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
	Resource    Words  `json:"resource,omitempty"`    // alternatives
	Command     string `json:"command,omitempty"`     // with its arguments
	Script      string `json:"script,omitempty"`      // text that runs in place of the command, which has its name and arguments
	ScanScript  Switch `json:"scanscript,omitempty"`  // read the #OAR lines of the script
	Property    Words  `json:"property,omitempty"`    // all must hold
	Queue       string `json:"queue,omitempty"`       // to submit to
	Type        Words  `json:"type,omitempty"`        // such as besteffort, container, inner=12
	Reservation string `json:"reservation,omitempty"` // "start[, end]" in TimeZone
	TimeZone    string `json:"timezone,omitempty"`    // of all dates of the submission; default: the zone of the daemon
	Anterior    Words  `json:"anterior,omitempty"`    // jobs that have to end before
	Project     string `json:"project,omitempty"`     // that is charged
	Name        string `json:"name,omitempty"`        // of the job
	Directory   string `json:"directory,omitempty"`   // in which the command runs
	Workdir     string `json:"workdir,omitempty"`     // alias of Directory
	Stdout      string `json:"stdout,omitempty"`      // file of the output
	Stderr      string `json:"stderr,omitempty"`      // file of the errors
	Notify      string `json:"notify,omitempty"`      // address that is notified
	Hold        Switch `json:"hold,omitempty"`        // do not start before it is resumed
	Array       Number `json:"array,omitempty"`       // how many sub-jobs
	ParamFile   string `json:"param_file,omitempty"`  // a line of parameters for each sub-job
	// ParamFileName is the name of the parameter file in messages.
	ParamFileName string `json:"param_file_name,omitempty"`

	Checkpoint  Number `json:"checkpoint,omitempty"`  // seconds before the end
	Signal      Number `json:"signal,omitempty"`      // not offered: signals do not reach VMs
	Resubmit    Number `json:"resubmit,omitempty"`    // the ended job to submit again
	Interactive Switch `json:"interactive,omitempty"` // the command is a shell that oarsub attaches to
	Rows        Number `json:"rows,omitempty"`        // of the terminal of an interactive job
	Columns     Number `json:"columns,omitempty"`     // of the terminal of an interactive job
	Memory      string `json:"mem,omitempty"`         // of each VM, such as 2GiB
	Image       string `json:"image,omitempty"`       // of each VM
	// InitialRequest is the command line that oarstat -f shows.
	InitialRequest string `json:"initial_request,omitempty"`
}

// Accepted is the answer to a submission.
type Accepted struct {
	ID        int64   `json:"id"`                     // of the job, or of the first of an array
	IDs       []int64 `json:"ids"`                    // of all sub-jobs
	ArrayID   int64   `json:"array_id,omitempty"`     // of an array
	Output    string  `json:"cmd_output"`             // what oarsub prints
	Warnings  string  `json:"cmd_warnings,omitempty"` // what oarsub prints on its standard error
	Timestamp int64   `json:"api_timestamp"`          // seconds since 1970
	Links     []Link  `json:"links"`                  // of the job
}

// Done is the answer to an order to a job: its status in words, and the output and exit code of the
// command.
type Done struct {
	ID        int64  `json:"id"`                   // of the job
	Status    string `json:"status"`               // in words
	Output    string `json:"cmd_output"`           // what the command prints
	Errors    string `json:"cmd_errors,omitempty"` // standard error of the command
	Exit      int    `json:"exit_status"`          // of the command
	Timestamp int64  `json:"api_timestamp"`        // seconds since 1970
	Links     []Link `json:"links"`                // of the job
}

// Method is the body of POST /oarapi/jobs/{id}.
type Method struct {
	Method string `json:"method"` // delete
}

// Link is a related address.
type Link struct {
	Rel   string `json:"rel"`             // self, collection, next, previous
	Href  string `json:"href"`            // path with its query
	Title string `json:"title,omitempty"` // of a collection
}

// Page is one page of a list.
type Page[T any] struct {
	Timestamp int64  `json:"api_timestamp"` // seconds since 1970
	Items     []T    `json:"items"`         // of this page
	Links     []Link `json:"links"`         // self, next, previous
	Offset    int    `json:"offset"`        // how many entries are before this page
	Total     int    `json:"total"`         // how many there are on all pages
}

// Failure is the answer to a call that failed. It has vjob's own error besides OAR's.
type Failure struct {
	Code    int    `json:"code"`                 // HTTP status
	Title   string `json:"title"`                // of the status
	Message string `json:"message"`              // what OAR's command prints
	Exit    int    `json:"exit_status"`          // of OAR's command
	Output  string `json:"cmd_output,omitempty"` // printed before the failure
	Error   Fault  `json:"error"`                // the same as in vjob's own API
}

// Fault is the error as in vjob's own API.
type Fault struct {
	Code    string  `json:"code"`             // such as invalid or not_found
	Message string  `json:"message"`          // the fault and the fix
	Field   string  `json:"field,omitempty"`  // the first wrong field
	Fields  []Wrong `json:"fields,omitempty"` // all wrong fields
}

// Wrong is one wrong field of a request.
type Wrong struct {
	Field   string `json:"field"`   // path in the body, or a parameter
	Message string `json:"message"` // the field, the fault and the fix
}

// Words is a list of texts or numbers, or a single value.
type Words []string

// JSONForms returns a value of each type by which it may be written.
func (Words) JSONForms() []any { return []any{[]string{}, "", 0.5} }

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

// JSONForms returns a value of each type by which it may be written.
func (Number) JSONForms() []any { return []any{0, ""} }

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

// JSONForms returns a value of each type by which it may be written.
func (Switch) JSONForms() []any { return []any{false, "", 0} }

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
	ID             int64    `json:"id"`                       // its number
	ArrayID        int64    `json:"array_id"`                 // number of the first job of its array
	ArrayIndex     int      `json:"array_index"`              // place in its array, from 1
	Name           *string  `json:"name"`                     // null without one
	Owner          string   `json:"owner"`                    // the account that submitted it
	User           string   `json:"job_user"`                 // the same as owner
	State          string   `json:"state"`                    // of OAR: Waiting, Running, Terminated, Error …
	Resources      []int    `json:"assigned_resources"`       // numbers of its nodes
	Nodes          []string `json:"assigned_network_address"` // names of its nodes
	Queue          string   `json:"queue"`                    // in which it is
	Command        string   `json:"command"`                  // with its arguments
	Directory      string   `json:"launching_directory"`      // in which the command runs
	Type           string   `json:"type"`                     // PASSIVE, INTERACTIVE
	Properties     string   `json:"properties"`               // expression that its nodes meet
	Reservation    string   `json:"reservation"`              // None, Scheduled
	Walltime       int64    `json:"walltime"`                 // in seconds
	Submitted      int64    `json:"submission_time"`          // seconds since 1970
	Started        int64    `json:"start_time"`               // seconds since 1970; 0: it has not started
	Stopped        int64    `json:"stop_time"`                // seconds since 1970; 0: it has not ended
	Message        string   `json:"message"`                  // why it is in its state
	Scheduled      int64    `json:"scheduled_start"`          // seconds since 1970, by the forecast; 0: unknown
	Resubmits      int64    `json:"resubmit_job_id"`          // the job of which it is the next attempt; 0: none
	Events         []Event  `json:"events"`                   // the latest ones
	Wanted         string   `json:"wanted_resources"`         // as OAR writes them
	Project        string   `json:"project"`                  // that is charged
	CPUSet         string   `json:"cpuset_name"`              // as OAR would name it
	Types          []string `json:"types"`                    // such as besteffort
	Dependencies   []int64  `json:"dependencies"`             // numbers of the jobs that it depends on
	ExitCode       *int     `json:"exit_code"`                // of its work, as wait(2) has it; null before the end
	Stdout         string   `json:"stdout_file"`              // file of the output
	Stderr         string   `json:"stderr_file"`              // file of the errors
	InitialRequest string   `json:"initial_request"`          // the command line of oarsub
}

// Event is an event of a job.
type Event struct {
	ID   int64  `json:"event_id"`    // its number
	Type string `json:"type"`        // of OAR
	At   int64  `json:"date"`        // seconds since 1970
	Text string `json:"description"` // what happened, in words
}

// Item is a job in GET /oarapi/jobs.
type Item struct {
	ID        int64   `json:"id"`            // its number
	Name      *string `json:"name"`          // null without one
	Owner     string  `json:"owner"`         // the account that submitted it
	Queue     string  `json:"queue"`         // in which it is
	State     string  `json:"state"`         // of OAR: Waiting, Running, Terminated, Error …
	Submitted int64   `json:"submission"`    // seconds since 1970
	Timestamp int64   `json:"api_timestamp"` // seconds since 1970
	Links     []Link  `json:"links"`         // of the job
}

// Detail is a job in full, with its links.
type Detail struct {
	Job
	Timestamp int64  `json:"api_timestamp"` // seconds since 1970
	Links     []Link `json:"links"`         // of the job
}

// Resource is a node. OAR's resources are cores or other parts of nodes. Here a VM takes any share
// of a node, so a resource is a whole node.
type Resource struct {
	ID        int               `json:"resource_id"`     // number of the node, from 1
	Node      string            `json:"network_address"` // name of the node
	State     string            `json:"state"`           // Alive, Absent, Suspected, Dead
	Draining  string            `json:"drain"`           // YES, NO
	CPUMilli  int64             `json:"cpu_milli"`       // processors of the node, in thousandths
	MemoryMiB int64             `json:"memory_mib"`      // memory of the node for VMs
	Jobs      []int64           `json:"jobs"`            // those visible to the caller
	Labels    map[string]string `json:"properties"`      // labels of the node
	Links     []Link            `json:"links,omitempty"` // of the node
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
	Name     string `json:"name"`     // of the settings
	Priority int    `json:"priority"` // of its jobs
	Policy   string `json:"policy"`   // by which its jobs start
	State    string `json:"state"`    // Active
}

// Usage is what a user requested and used in a period, in CPU seconds.
type Usage struct {
	User  string `json:"user"`               // the account
	First int64  `json:"first_window_start"` // seconds since 1970
	Last  int64  `json:"last_window_end"`    // seconds since 1970
	Asked int64  `json:"asked"`              // seconds of one processor that were requested
	Used  int64  `json:"used"`               // seconds of one processor that were used
}

// Change is the body of POST /oarapi/resources/{name}/state.
type Change struct {
	State string `json:"state"` // Alive, Absent
}
