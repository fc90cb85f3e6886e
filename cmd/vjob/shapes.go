package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/settings/document"
)

// shapesOf puts the alternatives of --shape into a submission of equal VMs. What one does
// not say is as the vjob has it; if that has no walltime, the first is the vjob itself.
func shapesOf(flags []string, s *wire.Submission) error {
	if len(flags) == 0 {
		return nil
	}
	if s.Template == nil {
		return cluster.BadField("--shape", flags[0], "it in the file, which describes the VMs: shapes")
	}
	var shapes []wire.Shape
	for _, text := range flags {
		shape, err := parseShape(text, s)
		if err != nil {
			return err
		}
		shapes = append(shapes, shape)
	}
	if s.WalltimeSeconds == 0 {
		own := shapes[0]
		s.Count, s.Template, s.WalltimeSeconds, shapes = own.Count, own.Template, own.WalltimeSeconds, shapes[1:]
	}
	s.Shapes = shapes
	return nil
}

// parseShape reads "count=8,walltime=1h,cpu=2,mem=1GiB".
func parseShape(text string, s *wire.Submission) (shape wire.Shape, err error) {
	vm := *s.Template
	shape = wire.Shape{Count: s.Count, Template: &vm, WalltimeSeconds: s.WalltimeSeconds, Rules: s.Rules}
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		field := "--shape: " + key
		switch key {
		case "count":
			if shape.Count, err = strconv.Atoi(value); err != nil || shape.Count < 1 {
				err = cluster.BadField(field, value, "how many VMs, 1 or more")
			}
		case "walltime":
			var d time.Duration
			d, err = parseWalltime(field, value)
			shape.WalltimeSeconds = int64(d / time.Second)
		case "cpu":
			vm.CPUMilli, err = parseCPU(field, value)
		case "mem":
			vm.MemoryMiB, err = parseMemory(field, value)
		default:
			err = cluster.BadField("--shape", text, "count=, walltime=, cpu= and mem=, with commas between")
		}
		if err != nil {
			return shape, err
		}
	}
	if shape.WalltimeSeconds == 0 {
		return shape, cluster.BadField("--shape", text, "a walltime: the alternative that ends first is taken")
	}
	return shape, nil
}

// shapeFile is an alternative in a vjob file. What it does not say is as the vjob has it.
type shapeFile struct {
	Count           int              `json:"count"`
	Template        *vmFile          `json:"template"`
	VMs             []vmFile         `json:"vms"`
	Walltime        string           `json:"walltime"`
	WalltimeSeconds int64            `json:"walltime_seconds"`
	Rules           document.Passage `json:"rules"`
}

// shapes turns the words of the alternatives into numbers.
func (f *vjobFile) shapes() (shapes []wire.Shape, err error) {
	for i := range f.Shapes {
		x, path := f.Shapes[i], fmt.Sprintf("shapes[%d]", i)
		if x.Template == nil && len(x.VMs) == 0 {
			x.Template, x.Count = f.Template, cmp.Or(x.Count, f.Count)
		}
		if x.Template == nil && len(x.VMs) == 0 {
			return nil, cluster.BadField(path+".vms", "none", "a list of VMs, or count and template")
		}
		one := vjobFile{Count: x.Count, Template: x.Template, VMs: x.VMs, Walltime: x.Walltime, WalltimeSeconds: x.WalltimeSeconds, Rules: x.Rules}
		if one.Rules == "" {
			one.Rules = f.Rules
		}
		s, err := one.submission()
		if err != nil {
			return nil, cluster.Within(path, err)
		}
		shapes = append(shapes, wire.Shape{
			Count: s.Count, Template: s.Template, VMs: s.VMs, WalltimeSeconds: s.WalltimeSeconds, Rules: s.Rules,
		})
	}
	return shapes, nil
}
