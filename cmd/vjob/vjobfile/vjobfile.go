// Package vjobfile reads vjob files: submissions that users write by hand. The server makes
// the checks that need the cluster.
package vjobfile

import (
	"fmt"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/internal/document"
)

// vjobFile is a vjob file: the submission of the API, with times and sizes also in readable
// notation, such as `walltime: 1:00:00`, `memory: 2GiB`.
type vjobFile struct {
	Name            string           `json:"name"`
	Priority        int              `json:"priority"`
	Walltime        string           `json:"walltime"`
	WalltimeSeconds int64            `json:"walltime_seconds"`
	Hold            bool             `json:"hold"`
	Count           int              `json:"count"`
	Template        *vmFile          `json:"template"`
	VMs             []vmFile         `json:"vms"`
	Rules           document.Passage `json:"rules"` // a script, or a list
	Array           int              `json:"array"`
	Parameters      []string         `json:"parameters"`
	wire.Terms
	Shapes []shapeFile `json:"shapes"` // in place of those of the terms

	readable map[string]string // the terms with a unit, in readable notation: min_run, cpu_limit
}

// ExtraKeys are the names of terms that are durations or amounts of CPU, without their unit.
func (f *vjobFile) ExtraKeys() (keys []string) {
	for _, t := range cluster.TermFields() {
		if unit := unitOf(t.In(&f.Terms.Terms)); unit != "" {
			keys = append(keys, strings.TrimSuffix(t.Name, unit))
		}
	}
	return keys
}

// unitOf is the unit at the end of the name of a term, by its type; "" for terms without one.
func unitOf(term any) string {
	switch term.(type) {
	case *cluster.Seconds:
		return secondsSuffix
	case *cluster.MilliCPU:
		return "_milli"
	default:
		return ""
	}
}

// SetExtra notes such a term.
func (f *vjobFile) SetExtra(key, text string) {
	if f.readable == nil {
		f.readable = map[string]string{}
	}
	f.readable[key] = text
}

// setReadable reads them into the terms.
func (f *vjobFile) setReadable(terms *cluster.Terms) error {
	for _, t := range cluster.TermFields() {
		var err error
		switch at := t.In(terms).(type) {
		case *cluster.Seconds:
			key := strings.TrimSuffix(t.Name, secondsSuffix)
			err = readSpan(key, f.readable[key], at)
		case *cluster.MilliCPU:
			key := strings.TrimSuffix(t.Name, unitOf(at))
			err = readCPU(key, f.readable[key], at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readCPU reads an amount of CPU in readable notation, unless the file has it in thousandths.
func readCPU(field, text string, cpu *cluster.MilliCPU) error {
	if text == "" {
		return nil
	}
	if *cpu != 0 {
		return twice(field, field+unitOf(cpu))
	}
	milli, err := cli.ParseCPU(field, text)
	*cpu = cluster.MilliCPU(milli)
	return err
}

const secondsSuffix = "_seconds"

// vmFile is one VM of a vjob file.
type vmFile struct {
	CPU       string            `json:"cpu"`
	CPUMilli  int64             `json:"cpu_milli"`
	Memory    string            `json:"memory"`
	MemoryMiB int64             `json:"memory_mib"`
	Image     string            `json:"image"`
	Command   []string          `json:"command"`
	Script    string            `json:"script"`
	Env       map[string]string `json:"env"`
	Work      string            `json:"work"` // "2m@1,1m@0.5", short for steps
	Steps     []wire.Step       `json:"steps"`
	ExitCode  *int              `json:"exit_code"` // of the steps
}

// Parse reads a vjob file. What only the server can know, it checks.
func Parse(name string, data []byte) (wire.Submission, error) {
	var f vjobFile
	doc, err := document.Decode(name, data, &f)
	if err != nil {
		return wire.Submission{}, err
	}
	s, err := f.submission()
	if err != nil {
		return wire.Submission{}, doc.Locate(err)
	}
	return s, nil
}

// readSpan reads a duration in readable notation, unless the file has it in seconds.
func readSpan(field, text string, span *cluster.Seconds) error {
	if text == "" {
		return nil
	}
	if *span != 0 {
		return twice(field, field+secondsSuffix)
	}
	d, err := cli.ParseWalltime(field, text)
	*span = cluster.Seconds(d)
	return err
}

func (f *vjobFile) submission() (s wire.Submission, err error) {
	s = wire.Submission{
		Name: f.Name, Priority: f.Priority, WalltimeSeconds: f.WalltimeSeconds, Hold: f.Hold, Count: f.Count, Rules: string(f.Rules),
		Terms: f.Terms, Array: f.Array, Parameters: f.Parameters,
	}
	if s.Shapes, err = f.shapes(); err != nil {
		return s, err
	}
	if err := f.setReadable(&s.Terms.Terms); err != nil {
		return s, err
	}
	if f.Walltime != "" {
		walltime := cluster.Seconds(f.WalltimeSeconds)
		if err := readSpan("walltime", f.Walltime, &walltime); err != nil {
			return s, err
		}
		s.WalltimeSeconds = int64(time.Duration(walltime) / time.Second)
	}
	switch {
	case f.Template == nil && len(f.VMs) == 0:
		return s, cluster.Fault("vms", "missing, want a list of VMs, or count and template")
	case f.Template != nil && len(f.VMs) > 0:
		return s, twice("template", "vms")
	case f.Template == nil && f.Count != 0:
		return s, cluster.Fault("count", "%d requires a template", f.Count)
	case f.Template != nil && f.Count < 0:
		return s, cluster.BadField("count", f.Count, "1 or more")
	}
	if f.Template != nil {
		s.Count = max(1, f.Count)
		s.Template = &wire.VMSpec{}
		*s.Template, err = f.Template.spec("template")
		return s, err
	}
	for i := range f.VMs {
		vm, err := f.VMs[i].spec(fmt.Sprintf("vms[%d]", i))
		if err != nil {
			return s, err
		}
		s.VMs = append(s.VMs, vm)
	}
	return s, nil
}

// spec turns words into numbers.
func (v *vmFile) spec(path string) (vm wire.VMSpec, err error) {
	vm = wire.VMSpec{
		CPUMilli: v.CPUMilli, MemoryMiB: v.MemoryMiB, Image: v.Image,
		Command: v.Command, Script: v.Script, Env: v.Env, Steps: v.Steps, ExitCode: v.ExitCode,
	}
	if v.CPU != "" {
		if v.CPUMilli != 0 {
			return vm, twice(path+".cpu", "cpu_milli")
		}
		if vm.CPUMilli, err = cli.ParseCPU(path+".cpu", v.CPU); err != nil {
			return vm, err
		}
	}
	if v.Memory != "" {
		if v.MemoryMiB != 0 {
			return vm, twice(path+".memory", "memory_mib")
		}
		if vm.MemoryMiB, err = cli.ParseMemory(path+".memory", v.Memory); err != nil {
			return vm, err
		}
	}
	if v.Work != "" {
		if len(v.Steps) > 0 {
			return vm, twice(path+".work", "steps")
		}
		if vm.Steps, err = cli.ParseSteps(path+".work", v.Work); err != nil {
			return vm, err
		}
	}
	switch {
	case len(v.Command) > 0 && v.Script != "":
		return vm, twice(path+".script", "command")
	case vm.CPUMilli < 1:
		return vm, cluster.BadField(path+".cpu", vm.CPUMilli, "more than 0 processors")
	case vm.MemoryMiB < 1:
		return vm, cluster.BadField(path+".memory", vm.MemoryMiB, "more than 0, such as 512MiB")
	}
	return vm, nil
}

func twice(field, other string) error {
	return cluster.Fault(field, "given beside %s, want one of the two", other)
}
