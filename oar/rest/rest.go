// Package rest is the JSON of the calls under /oarapi, in the shape that OAR's REST
// API has. It is what travels between the daemon, our own oarsub and its family, and
// the scripts of those who come from OAR.
//
// It refuses to know everything else.
package rest

import (
	"encoding/json"
	"fmt"
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
		text, err := word(raw)
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
	text, err := word(data)
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
	text, err := word(data)
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

// word is a text, a number or a truth value as a text.
func word(raw json.RawMessage) (text string, err error) {
	if len(raw) > 0 && raw[0] == '"' {
		err = json.Unmarshal(raw, &text)
		return text, err
	}
	if len(raw) > 0 && (raw[0] == '{' || raw[0] == '[' || raw[0] == 'n') {
		return "", fmt.Errorf("%.40s is neither a text nor a number", raw)
	}
	return string(raw), nil
}
