// Package vjobfile reads vjob files: submissions that users write by hand. The server makes
// the checks that need the cluster.
package vjobfile

import (
	"fmt"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/parse"
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
	MinRun          string           `json:"min_run"`
	Flexible        string           `json:"flexible"`
	Array           int              `json:"array"`
	Parameters      []string         `json:"parameters"`
	wire.Terms
	Shapes []shapeFile `json:"shapes"` // in place of those of the terms
}

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

// inWords reads a time that can be told in words or in seconds, and not in both.
func inWords(field, text string, seconds *int64) error {
	if text == "" {
		return nil
	}
	if *seconds != 0 {
		return twice(field, field+"_seconds")
	}
	d, err := parse.Walltime(field, text)
	*seconds = int64(d / time.Second)
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
	for _, t := range []struct {
		field, text string
		seconds     *int64
	}{
		{"min_run", f.MinRun, &s.MinRunSeconds}, {"flexible", f.Flexible, &s.FlexibleSeconds}, {"walltime", f.Walltime, &s.WalltimeSeconds},
	} {
		if err := inWords(t.field, t.text, t.seconds); err != nil {
			return s, err
		}
	}
	switch {
	case f.Template == nil && len(f.VMs) == 0:
		return s, cluster.BadField("vms", "none", "a list of VMs, or count and template")
	case f.Template != nil && len(f.VMs) > 0:
		return s, twice("template", "vms")
	case f.Template == nil && f.Count != 0:
		return s, cluster.BadField("count", f.Count, "a template as well, or no count")
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
		if vm.CPUMilli, err = parse.CPU(path+".cpu", v.CPU); err != nil {
			return vm, err
		}
	}
	if v.Memory != "" {
		if v.MemoryMiB != 0 {
			return vm, twice(path+".memory", "memory_mib")
		}
		if vm.MemoryMiB, err = parse.Memory(path+".memory", v.Memory); err != nil {
			return vm, err
		}
	}
	if v.Work != "" {
		if len(v.Steps) > 0 {
			return vm, twice(path+".work", "steps")
		}
		if vm.Steps, err = parse.Steps(path+".work", v.Work); err != nil {
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
	return &cluster.FieldError{Field: field, Value: "given beside " + other, Want: "one of the two"}
}
