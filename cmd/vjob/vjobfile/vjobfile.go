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

	spans map[string]string // the terms that are durations, in readable notation: min_run
}

// ExtraKeys are the names of terms that are durations, without their unit.
func (f *vjobFile) ExtraKeys() (keys []string) {
	for _, t := range cluster.TermFields() {
		if _, ok := t.In(&f.Terms.Terms).(*cluster.Seconds); ok {
			keys = append(keys, strings.TrimSuffix(t.Name, secondsSuffix))
		}
	}
	return keys
}

// SetExtra notes such a duration.
func (f *vjobFile) SetExtra(key, text string) {
	if f.spans == nil {
		f.spans = map[string]string{}
	}
	f.spans[key] = text
}

// setSpans reads them into the terms.
func (f *vjobFile) setSpans(terms *cluster.Terms) error {
	for _, t := range cluster.TermFields() {
		if at, ok := t.In(terms).(*cluster.Seconds); ok {
			key := strings.TrimSuffix(t.Name, secondsSuffix)
			if err := readSpan(key, f.spans[key], at); err != nil {
				return err
			}
		}
	}
	return nil
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
	if err := f.setSpans(&s.Terms.Terms); err != nil {
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
		Command: v.Command, Script: v.Script, Env: v.Env, Steps: v.Steps,
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
