package workload

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/scheduler"
	"vjob/settings/document"
)

// traceLine is one vjob of a trace. Numbers that are not integers of seconds or
// MiB are refused.
type traceLine struct {
	ID        string     `json:"id"`
	Submit    int64      `json:"submit"`
	Runtime   int64      `json:"runtime"`
	Walltime  int64      `json:"walltime"`
	VMs       int        `json:"vms"`
	CPU       float64    `json:"cpu"`
	MemoryMiB float64    `json:"memory_mb"`
	Model     string     `json:"model"`
	Active    [][2]int64 `json:"active"`
	User      *int64     `json:"user"`

	MemoryFrom json.RawMessage `json:"memory_from"`
	Queue      json.RawMessage `json:"queue"`
}

// ReadTrace reads one line of JSON per vjob. runtime is the length of its
// progress clock, in seconds of running with every active VM satisfied; VM k
// needs its CPU while the clock is in active[k] = [from, to), or, where the line
// has no active, as the line's model says (see [Phases]), and none otherwise.
func ReadTrace(name string, r io.Reader) (*Workload, error) {
	w := &Workload{Title: name}
	names := map[string]bool{}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), document.Limit)
	for n := 1; lines.Scan(); n++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		job, err := parseLine(text)
		if err == nil && names[job.Submission.Name] {
			err = cluster.BadField("id", job.Submission.Name, "a name that no other vjob has")
		}
		if err == nil && len(w.Jobs) == maxJobs {
			err = cluster.BadField("vjobs", maxJobs+1, fmt.Sprintf("at most %d vjobs", maxJobs))
		}
		if err != nil {
			return nil, atLine(name, n, err)
		}
		names[job.Submission.Name] = true
		w.Jobs = append(w.Jobs, job)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, cluster.ErrInvalid, err)
	}
	if len(w.Jobs) == 0 {
		return nil, fmt.Errorf("%s: %w", name, cluster.BadField("vjobs", "none", "at least one vjob"))
	}
	return w.sorted(), nil
}

func atLine(name string, line int, err error) error {
	if field, ok := errors.AsType[*cluster.FieldError](err); ok {
		return &document.Error{Document: name, Line: line, Column: 1, Field: field}
	}
	return fmt.Errorf("%s:%d: %w", name, line, err)
}

func parseLine(text []byte) (Job, error) {
	var l traceLine
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return Job{}, jsonError(err)
	}
	if d.More() {
		return Job{}, cluster.BadField("line", "more than one value", "one vjob")
	}
	return l.job()
}

// jsonError names the key that is to blame, as far as it is known.
func jsonError(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return cluster.BadField(wrong.Field, wrong.Value, "a value of type "+wrong.Type.String())
	}
	if key, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return cluster.BadField(strings.Trim(key, `"`), "unknown key", "one of id, submit, runtime, walltime, vms, cpu, memory_mb, model, active, user, memory_from, queue")
	}
	return cluster.BadField("syntax", err.Error(), "one JSON object a line")
}

func (l *traceLine) job() (Job, error) {
	switch {
	case l.ID == "":
		return Job{}, cluster.BadField("id", l.ID, "a name")
	case l.Runtime < 1:
		return Job{}, cluster.BadField("runtime", l.Runtime, "seconds, 1 or more")
	case l.VMs < 1 || l.VMs > maxMembers:
		return Job{}, cluster.BadField("vms", l.VMs, fmt.Sprintf("1 to %d", maxMembers))
	}
	size, err := resources("", "cpu", l.CPU, l.MemoryMiB)
	if err != nil {
		return Job{}, err
	}
	at, err := seconds("submit", float64(l.Submit))
	if err != nil {
		return Job{}, err
	}
	walltime, err := seconds("walltime", float64(l.Walltime))
	if err != nil {
		return Job{}, err
	}
	if _, err := seconds("runtime", float64(l.Runtime)); err != nil {
		return Job{}, err
	}
	if err := l.fillActive(); err != nil {
		return Job{}, err
	}
	s := scheduler.Submission{Owner: Owner, Name: l.ID, Walltime: walltime}
	if l.User != nil {
		s.Owner = fmt.Sprintf("user%d", *l.User)
	}
	for k := range l.VMs {
		program := &cluster.Program{Lockstep: true, Steps: l.steps(k, size.CPU)}
		s.VMs = append(s.VMs, cluster.VM{Reserved: size, Payload: cluster.Payload{Program: program}})
	}
	return Job{At: at, Submission: s}, nil
}

func (l *traceLine) fillActive() (err error) {
	if l.Active == nil {
		l.Active, err = Phases(l.Model, l.VMs, l.Runtime)
		return err
	}
	if len(l.Active) != l.VMs {
		return cluster.BadField("active", fmt.Sprintf("%d intervals", len(l.Active)), fmt.Sprintf("one for each of the %d VMs", l.VMs))
	}
	for k, a := range l.Active {
		if a[0] < 0 || a[1] < a[0] || a[1] > l.Runtime {
			return cluster.BadField(fmt.Sprintf("active[%d]", k), a, fmt.Sprintf("[from, to] with 0 ≤ from ≤ to ≤ %d", l.Runtime))
		}
	}
	return nil
}

// steps is the program of VM k: idle, active, idle, without empty stretches.
func (l *traceLine) steps(k int, cpu cluster.MilliCPU) []cluster.Step {
	from, to := l.Active[k][0], l.Active[k][1]
	if from == to {
		from, to = l.Runtime, l.Runtime
	}
	var steps []cluster.Step
	for _, s := range []struct {
		length int64
		cpu    cluster.MilliCPU
	}{{from, 0}, {to - from, cpu}, {l.Runtime - to, 0}} {
		if s.length > 0 {
			steps = append(steps, cluster.Step{CPU: s.cpu, Duration: time.Duration(s.length) * time.Second})
		}
	}
	return steps
}

// Phases is when each of p VMs is active over a progress clock of length t, for
// the models that stand in for the NASGrid graphs: ED (all the time), HC (one
// after another), VP (three pipelined stages) and MB (three uneven layers).
func Phases(model string, p int, t int64) ([][2]int64, error) {
	active := make([][2]int64, p)
	n := int64(p)
	var first, size [3]int64 // of the stages
	for k := range n {
		if s := 3 * k / n; size[s] == 0 {
			first[s] = k
		}
		size[3*k/n]++
	}
	for k := range n {
		s := 3 * k / n
		j := k - first[s]
		switch model {
		case "ED":
			active[k] = [2]int64{0, t}
		case "HC":
			active[k] = [2]int64{t * k / n, t * (k + 1) / n}
		case "VP":
			parts := max(size[0], size[1], size[2]) + 2
			active[k] = [2]int64{t * (s + j) / parts, t * (s + j + 1) / parts}
		case "MB":
			bounds := [4]int64{0, t / 2, 4 * t / 5, t}
			active[k] = [2]int64{bounds[s], bounds[s] + (bounds[s+1]-bounds[s])*(j+1)/size[s]}
		default:
			return nil, cluster.BadField("model", model, "one of ED, HC, MB, VP, where active is not given")
		}
	}
	return active, nil
}
