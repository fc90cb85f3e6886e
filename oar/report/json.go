package report

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"vjob/oar"
)

// formatTwo is a job with the names of OAR's format 2, which oarstat -J prints.
type formatTwo struct {
	ID             int64       `json:"Job_Id"`
	ArrayID        int64       `json:"array_id"`
	ArrayIndex     int         `json:"array_index"`
	Name           *string     `json:"name"`
	Owner          string      `json:"owner"`
	User           string      `json:"job_user"`
	State          string      `json:"state"`
	Resources      []int       `json:"assigned_resources"`
	Nodes          []string    `json:"assigned_network_address"`
	Queue          string      `json:"queue"`
	Command        string      `json:"command"`
	Directory      string      `json:"launchingDirectory"`
	Type           string      `json:"jobType"`
	Properties     string      `json:"properties"`
	Reservation    string      `json:"reservation"`
	Walltime       int64       `json:"walltime"`
	Submitted      int64       `json:"submissionTime"`
	Started        int64       `json:"startTime"`
	Stopped        int64       `json:"stopTime"`
	Message        string      `json:"message"`
	Scheduled      int64       `json:"scheduledStart"`
	Resubmits      int64       `json:"resubmit_job_id"`
	Events         []oar.Event `json:"events"`
	Wanted         string      `json:"wanted_resources"`
	Project        string      `json:"project"`
	CPUSet         string      `json:"cpuset_name"`
	Types          []string    `json:"types"`
	Dependencies   []int64     `json:"dependencies"`
	ExitCode       *int        `json:"exit_code"`
	Stdout         string      `json:"stdout_file"`
	Stderr         string      `json:"stderr_file"`
	InitialRequest string      `json:"initial_request"`
}

// JSON formats jobs as an object by their numbers, in format 2 or 3.
func JSON(jobs []oar.Job, format int) ([]byte, error) {
	return keyed(jobs, func(j *oar.Job) any {
		if format == 3 {
			return j
		}
		return (*formatTwo)(j)
	})
}

// StatesJSON formats the states of jobs as an object by their numbers.
func StatesJSON(jobs []oar.Job) ([]byte, error) {
	return keyed(jobs, func(j *oar.Job) any { return j.State })
}

// keyed formats an object with one line for each job.
func keyed(jobs []oar.Job, value func(*oar.Job) any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := range jobs {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n   \"" + strconv.FormatInt(jobs[i].ID, 10) + "\" : ")
		if err := encode(&b, value(&jobs[i])); err != nil {
			return nil, err
		}
	}
	if len(jobs) > 0 {
		b.WriteByte('\n')
	}
	b.WriteString("}\n")
	return b.Bytes(), nil
}

// encode writes a value without HTML escapes and without a final newline.
func encode(b *bytes.Buffer, value any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1)
	return nil
}

// Submitted formats a job number as oarsub -J does.
func Submitted(id int64) string {
	return "{\n   \"job_id\" : " + strconv.FormatInt(id, 10) + "\n}\n"
}

// Gantt formats when which job has which nodes, as JSON.
func Gantt(jobs []oar.Job, nodes []oar.Resource, from, to int64) ([]byte, error) {
	type bar struct {
		Start     int64    `json:"start_time"`
		Stop      int64    `json:"stop_time"`
		State     string   `json:"state"`
		Owner     string   `json:"owner"`
		Walltime  int64    `json:"walltime"`
		Resources []int    `json:"resource_id"`
		Nodes     []string `json:"network_address"`
	}
	bars := map[string]bar{}
	for i := range jobs {
		j := &jobs[i]
		start, stop := Span(j)
		if start == 0 || start > to || stop < from {
			continue
		}
		bars[strconv.FormatInt(j.ID, 10)] = bar{start, stop, j.State, j.Owner, j.Walltime, j.Resources, j.Nodes}
	}
	var b bytes.Buffer
	err := encode(&b, struct {
		Jobs      map[string]bar `json:"jobs"`
		Resources []oar.Resource `json:"resources"`
	}{bars, nodes})
	return append(b.Bytes(), '\n'), err
}

// Span returns when a job began, or will begin, and when it ended, or will end if it uses all of its
// walltime; 0 if unknown.
func Span(j *oar.Job) (start, stop int64) {
	start, stop = j.Started, j.Stopped
	if start == 0 {
		start = j.Scheduled
	}
	if stop == 0 && start != 0 {
		stop = start + j.Walltime
	}
	return start, stop
}

// bare reports whether YAML reads an unquoted text as a string.
func bare(text string) bool {
	return text != "" && text == oar.Printable(text) && !strings.ContainsAny(text[:1], "-?:,[]{}#&*!|>'\"%@` ~0123456789.+=<") && !strings.ContainsAny(text, ":#\n\t\\\"") &&
		!strings.HasSuffix(text, " ") && !strings.Contains(" true false null yes no on off y n ", " "+strings.ToLower(text)+" ")
}
