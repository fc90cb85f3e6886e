package oar

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/internal/suggest"
)

// JobType is a type of a job with its value, the value of oarsub -t: besteffort, container=night,
// timesharing=user,*, deadline=2037-01-01 10:00.
type JobType struct {
	Name  string // besteffort, timesharing, token
	Value string // the text after the first =, or ""
	Token string // X of token:X=N
}

// String returns the type as it is written.
func (t JobType) String() string {
	text := t.Name
	if t.Token != "" {
		text += ":" + t.Token
	}
	if t.Value != "" {
		text += "=" + t.Value
	}
	return text
}

// valueForm checks the values of a type; want describes them in messages.
type valueForm struct {
	want string
	fits func(value string) bool
}

// MaxJobType is the maximal length of a type in bytes.
const MaxJobType = 200

var (
	noValue         = valueForm{"no value", func(v string) bool { return v == "" }}
	standbyValue    = valueForm{"no value, or standby", func(v string) bool { return v == "" || v == "standby" }}
	optionalName    = valueForm{"no value, or a name of letters, digits, _ and -", func(v string) bool { return v == "" || isTypeName(v) }}
	nameValue       = valueForm{"a name of letters, digits, _ and -", isTypeName}
	sharingValue    = valueForm{"two of *, user and name, such as user,*", isSharing}
	numberValue     = valueForm{"a number", func(v string) bool { return v != "" && strings.Trim(v, "0123456789") == "" }}
	timeValue       = valueForm{"YYYY-MM-DD, or YYYY-MM-DD hh:mm:ss", isTime}
	permissiveValue = valueForm{"permissive", func(v string) bool { return v == "permissive" }}
	jobTypeForms    = map[string]valueForm{
		"besteffort": noValue, "idempotent": noValue, "desktop_computing": noValue,
		"deploy": standbyValue, "cosystem": standbyValue, "noop": standbyValue,
		"container": optionalName, "inner": nameValue, "placeholder": nameValue, "allowed": nameValue,
		"timesharing": sharingValue, "token": numberValue, "state": permissiveValue,
		"postpone": timeValue, "deadline": timeValue, "expire": timeValue,
	}
)

func isTypeName(v string) bool {
	return v != "" && !strings.ContainsFunc(v, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
}

// isSharing accepts (* or user) and (* or name), in either order.
func isSharing(v string) bool {
	a, b, ok := strings.Cut(v, ",")
	if a == "name" || b == "user" {
		a, b = b, a
	}
	return ok && (a == "*" || a == "user") && (b == "*" || b == "name")
}

func isTime(v string) bool {
	_, _, err := ParseTime(v, time.UTC) // the form only: the time zone of the job is known later
	return err == nil
}

// JobTypeNames returns the types that OAR defines.
func JobTypeNames() []string {
	return []string{
		"allowed", "besteffort", "container", "cosystem", "deadline", "deploy", "desktop_computing", "expire", "idempotent",
		"inner", "noop", "placeholder", "postpone", "state", "timesharing", "token",
	}
}

// SplitJobType splits a type into its parts without checking them.
func SplitJobType(text string) JobType {
	name, value, _ := strings.Cut(text, "=")
	name, token, _ := strings.Cut(name, ":")
	return JobType{Name: name, Value: value, Token: token}
}

// HasJobType reports whether types has a type of this name, with any value.
func HasJobType(types []string, name string) bool {
	return slices.ContainsFunc(types, func(text string) bool { return SplitJobType(text).Name == name })
}

// Sharers returns how many jobs may share the processors of a VM of a job with these types: 2 of one that shares with
// the jobs of all users and names, as timesharing=*,* says, else 1.
func Sharers(types []string) int {
	if slices.Contains(types, "timesharing=*,*") {
		return 2
	}
	return 1
}

// ParseJobType parses a type that OAR defines. The error is an [*Error] with the exit code of a rule
// of admission: in OAR such a rule refuses unknown types.
func ParseJobType(text string) (JobType, error) {
	t := SplitJobType(text)
	f, ok := jobTypeForms[t.Name]
	switch {
	case len(text) > MaxJobType:
		return t, unknownJobType(text, fmt.Sprintf("the type has %d bytes; %d are allowed", len(text), MaxJobType))
	case !ok && suggest.Nearest(t.Name, JobTypeNames()) != "":
		return t, unknownJobType(text, "there is no such type; did you mean "+suggest.Nearest(t.Name, JobTypeNames())+"?")
	case !ok:
		return t, unknownJobType(text, "there is no such type: want one of "+strings.Join(JobTypeNames(), ", "))
	case (t.Token != "") != (t.Name == "token") || t.Token != "" && !isTypeName(t.Token):
		return t, unknownJobType(text, "want token:NAME=NUMBER, and no : in other types")
	case !f.fits(t.Value) || strings.HasSuffix(text, "="):
		return t, unknownJobType(text, t.Name+" takes "+f.want)
	}
	return t, nil
}

func unknownJobType(text, why string) error {
	return &Error{
		Exit: ExitAdmission, OAR: "[ADMISSION RULE] Error: unknown job type: " + text,
		Position: Source{Name: "-t", Text: text}.At(Span{Off: 0, End: len(text)}), Text: why,
	}
}
