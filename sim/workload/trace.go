package workload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"vjob/cluster"
	"vjob/internal/document"
	"vjob/internal/strictjson"
	"vjob/scheduler/admission"
)

// traceLine is one vjob of a trace. Numbers that are not integers of seconds or
// MiB are refused.
type traceLine struct {
	ID     string `json:"id"`
	Submit int64  `json:"submit"`
	traceWork
	termKeys
	Shapes []traceWork    `json:"shapes"` // alternatives of a moldable vjob
	User   *int64         `json:"user"`   // of a log: its owner if the line has none
	Queue  jsontext.Value `json:"queue"`  // the name of a queue; a number of a log is ignored

	MemoryFrom jsontext.Value `json:"memory_from"`
}

// traceWork is the VMs of a vjob and their work.
type traceWork struct {
	Runtime   int64      `json:"runtime"`
	Walltime  int64      `json:"walltime"`
	VMs       int        `json:"vms"`
	CPU       float64    `json:"cpu"`
	MemoryMiB float64    `json:"memory_mb"`
	Model     string     `json:"model"`
	Active    [][2]int64 `json:"active"`
}

// readTrace reads one line of JSON per vjob. runtime is the length of its
// progress clock, in seconds of running with every active VM satisfied; VM k
// needs its CPU while the clock is in active[k] = [from, to), or, where the line
// has no active, as the line's model says (see [phases]), and none otherwise.
// shapes are the alternatives of a moldable vjob, with the same keys.
func readTrace(name string, r io.Reader) (*Workload, error) {
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
		job.Line = n
		w.Jobs = append(w.Jobs, job)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, cluster.ErrInvalid, err)
	}
	if len(w.Jobs) == 0 {
		return nil, fmt.Errorf("%s: %w", name, cluster.BadField("vjobs", "none", "at least one vjob"))
	}
	if m := w.sorted(); m != nil {
		return nil, atLine(name, w.lineOf(m.source), m.err)
	}
	return w, nil
}

// lineOf returns the line of a job by its index in the file.
func (w *Workload) lineOf(source int) int {
	i := slices.IndexFunc(w.Jobs, func(j Job) bool { return j.source == source })
	return w.Jobs[i].Line
}

func atLine(name string, line int, err error) error {
	if field, ok := errors.AsType[*cluster.FieldError](err); ok {
		return &document.Error{Document: name, Line: line, Column: 1, Field: field}
	}
	return fmt.Errorf("%s:%d: %w", name, line, err)
}

func parseLine(text []byte) (Job, error) {
	var l traceLine
	err := strictjson.Decode(text, &l)
	if bad, ok := errors.AsType[*cluster.FieldError](err); ok && bad.Field == "body" {
		err = cluster.Renamed("syntax", err)
	}
	if err != nil {
		return Job{}, err
	}
	return l.job()
}

func (l *traceLine) job() (j Job, err error) {
	if l.ID == "" {
		return j, cluster.BadField("id", l.ID, "a name")
	}
	if j.At, err = seconds("submit", float64(l.Submit)); err != nil {
		return j, err
	}
	s := &j.Submission
	s.Owner, s.Name = Owner, l.ID
	if s.VMs, s.Walltime, err = l.work(""); err != nil {
		return j, err
	}
	if l.User != nil {
		s.Owner = fmt.Sprintf("user%d", *l.User)
	}
	if err := l.queue(s); err != nil {
		return j, err
	}
	works := make([]work, len(l.Shapes))
	for i := range l.Shapes {
		works[i] = l.Shapes[i].work
	}
	if err := addShapes("", s, works); err != nil {
		return j, err
	}
	if err := l.apply("", &j); err != nil {
		return j, err
	}
	return j, j.check()
}

// queue sets the queue of a submission. It ignores numbers, which come from logs.
func (l *traceLine) queue(s *admission.Submission) error {
	switch l.Queue.Kind() {
	case 0, '0':
		return nil
	case '"':
		return json.Unmarshal(l.Queue, &s.Queue)
	}
	return cluster.BadField("queue", string(l.Queue), "the name of a queue; a number is only for people")
}

// work returns the VMs and the walltime.
func (w *traceWork) work(path string) (vms []cluster.VM, walltime time.Duration, err error) {
	switch {
	case w.Runtime < 1 || w.Runtime > maxSeconds:
		return nil, 0, cluster.BadField(path+"runtime", w.Runtime, fmt.Sprintf("seconds, from 1 to %.0f", maxSeconds))
	case w.VMs < 1 || w.VMs > maxMembers:
		return nil, 0, cluster.BadField(path+"vms", w.VMs, fmt.Sprintf("1 to %d", maxMembers))
	}
	size, err := resources(path, "cpu", w.CPU, w.MemoryMiB)
	if err != nil {
		return nil, 0, err
	}
	if walltime, err = seconds(path+"walltime", float64(w.Walltime)); err != nil {
		return nil, 0, err
	}
	if err := w.fillActive(path); err != nil {
		return nil, 0, err
	}
	return w.members(size), walltime, nil
}

// members returns the n equal VMs of a vjob of a model. runtime is in seconds.
func members(model string, n int, runtime int64, size cluster.Resources) ([]cluster.VM, error) {
	w := traceWork{Runtime: runtime, VMs: n, Model: model}
	if err := w.fillActive(""); err != nil {
		return nil, err
	}
	return w.members(size), nil
}

func (w *traceWork) members(size cluster.Resources) []cluster.VM {
	vms := make([]cluster.VM, w.VMs)
	for k := range vms {
		program := &cluster.Program{Lockstep: true, Steps: w.steps(k, size.CPU)}
		vms[k] = cluster.VM{Reserved: size, Payload: &cluster.Payload{Program: program}}
	}
	return vms
}

func (w *traceWork) fillActive(path string) (err error) {
	if w.Active == nil {
		w.Active, err = phases(w.Model, w.VMs, w.Runtime)
		return cluster.Renamed(path+"model", err)
	}
	if len(w.Active) != w.VMs {
		return cluster.BadField(path+"active", fmt.Sprintf("%d intervals", len(w.Active)), fmt.Sprintf("one for each of the %d VMs", w.VMs))
	}
	for k, a := range w.Active {
		if a[0] < 0 || a[1] < a[0] || a[1] > w.Runtime {
			return cluster.BadField(fmt.Sprintf("%sactive[%d]", path, k), a, fmt.Sprintf("[from, to] with 0 ≤ from ≤ to ≤ %d", w.Runtime))
		}
	}
	return nil
}

// steps returns the steps of VM k: idle, active, idle, without empty steps.
func (w *traceWork) steps(k int, cpu cluster.MilliCPU) []cluster.Step {
	from, to := w.Active[k][0], w.Active[k][1]
	if from == to {
		from, to = w.Runtime, w.Runtime
	}
	var steps []cluster.Step
	for _, s := range []struct {
		length int64
		cpu    cluster.MilliCPU
	}{{from, 0}, {to - from, cpu}, {w.Runtime - to, 0}} {
		if s.length > 0 {
			steps = append(steps, cluster.Step{CPU: s.cpu, Duration: time.Duration(s.length) * time.Second})
		}
	}
	return steps
}

// phases returns when each of p VMs is active over a progress clock of length t, for
// the models that replace the NASGrid graphs: ED (all the time), HC (one
// after another), VP (three pipelined stages) and MB (three uneven layers).
func phases(model string, p int, t int64) ([][2]int64, error) {
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
