package oar

import (
	"maps"
	"strconv"
	"strings"
	"unicode"
)

// Record is what OAR keeps of a job beyond a vjob. Labels of the vjob store it. It never changes.
type Record struct {
	Name           string // not unique, unlike the name of a vjob
	Command        string
	Script         bool // the command names a script; the VMs have its text
	Directory      string
	Queue          string
	Types          []string
	Properties     string
	Wanted         string // -l
	Walltime       int64  // seconds at submission; 0 of several -l
	Interactive    bool
	Stdout, Stderr string // as given
	Checkpoint     int64
	Signal         int64
	Resubmits      int64 // the job that this one repeats
	InitialRequest string
}

// labelPrefix begins the names of the labels of a record.
const labelPrefix = "oar."

// maxLabel is the maximal length of a label in bytes.
const maxLabel = 8 << 10

// Labels returns the labels that store the record. Values that are too long are cut: they are
// only displayed.
func (r *Record) Labels() map[string]string {
	labels := map[string]string{}
	for name, value := range map[string]string{
		"name": r.Name, "command": r.Command, "directory": r.Directory, "queue": r.Queue, "types": strings.Join(r.Types, "\n"),
		"properties": r.Properties, "wanted": r.Wanted, "stdout": r.Stdout, "stderr": r.Stderr, "initial_request": r.InitialRequest,
		"checkpoint": labelNumber(r.Checkpoint), "signal": labelNumber(r.Signal), "resubmits": labelNumber(r.Resubmits),
		"walltime":    labelNumber(r.Walltime),
		"interactive": labelFlag(r.Interactive), "script": labelFlag(r.Script),
	} {
		if value != "" {
			labels[labelPrefix+name] = labelText(value)
		}
	}
	return labels
}

// RecordOf reads a record from the labels of a vjob. ok is false if the vjob was not submitted as a
// job of OAR.
func RecordOf(labels map[string]string) (r Record, ok bool) {
	of := func(name string) string { return labels[labelPrefix+name] }
	count := func(name string) int64 {
		n, _ := strconv.ParseInt(of(name), 10, 64) // 0 if the label was changed
		return n
	}
	r = Record{
		Name: of("name"), Command: of("command"), Script: of("script") != "", Directory: of("directory"), Queue: of("queue"),
		Properties: of("properties"), Wanted: of("wanted"), Stdout: of("stdout"), Stderr: of("stderr"), InitialRequest: of("initial_request"),
		Checkpoint: count("checkpoint"), Signal: count("signal"), Resubmits: count("resubmits"),
		Walltime:    count("walltime"),
		Interactive: of("interactive") != "",
	}
	if types := of("types"); types != "" {
		r.Types = strings.Split(types, "\n")
	}
	for name := range maps.Keys(labels) {
		ok = ok || strings.HasPrefix(name, labelPrefix)
	}
	return r, ok
}

func labelNumber(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func labelFlag(yes bool) string {
	if yes {
		return "yes"
	}
	return ""
}

// labelText makes a text valid for a label.
func labelText(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if len(text) <= maxLabel {
		return text
	}
	const mark = "…"
	return strings.ToValidUTF8(text[:maxLabel-len(mark)], "") + mark
}
