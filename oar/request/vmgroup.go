package request

import (
	"fmt"

	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/property"
)

// MaxCPUs is the maximal number of processors of a VM.
const MaxCPUs = 100_000

// VMGroup is a group of a request in terms of VMs, regardless of nodes.
type VMGroup struct {
	Property property.Filter
	// Labels are nested groups of nodes, from the outer to the inner, with a count for each.
	Labels []Level
	// VMs is the number of VMs in each innermost group.
	VMs Level
	// Unit is the level that a VM stands for. If it is [Node], each VM has a node of its own.
	Unit Unit
	// CPU is the size of one VM; 0 is a whole node.
	CPU cluster.MilliCPU
}

// Whole reports whether each VM is a whole node.
func (s *VMGroup) Whole() bool { return s.CPU == 0 }

// VMGroups translates the groups of an alternative. The error is an [*oar.Error] with the exit code 8.
func VMGroups(a Alternative, site Config) ([]VMGroup, error) {
	list := make([]VMGroup, len(a.Groups))
	for i, g := range a.Groups {
		f := groupBuilder{source: a.Source, site: site}
		var err error
		if list[i], err = f.build(g); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// groupBuilder builds one group of VMs.
type groupBuilder struct {
	source oar.Source
	site   Config
}

// build takes labels first, then the level that a VM stands for. Levels below that are its size.
func (f *groupBuilder) build(g Group) (VMGroup, error) {
	s := VMGroup{Property: g.Property, Unit: Label}
	size := cluster.MilliCPU(0)
	before := Label
	for i, l := range g.Levels {
		u := f.site.unit(l.Name)
		switch {
		case u > before:
			return s, f.fail(l, "%s stands below %s: levels go from the outer to the inner", l.Name, g.Levels[i-1].Name)
		case u == before && u != Label:
			return s, f.fail(l, "%s and %s mean the same: want one of them", g.Levels[i-1].Name, l.Name)
		case l.Count == "0":
			return s, &oar.Error{
				Exit: oar.ExitResources, OAR: oar.NotEnoughResources, Position: f.source.At(l.Span),
				Text: "this asks for nothing: want 1 or more, ALL, BEST or BESTHALF",
			}
		case u == Label:
			s.Labels = append(s.Labels, l)
		case s.Unit == Label:
			s.Unit, s.VMs, size = u, l, f.defaultSize(u)
		default:
			var err error
			if size, err = f.partSize(l, g.Levels[i-1], size); err != nil {
				return s, err
			}
		}
		before = u
	}
	if s.Unit == Label { // all nodes of the groups
		last := g.Levels[len(g.Levels)-1]
		s.Unit, s.VMs = Node, Level{Name: f.site.Nodes[0], Count: All, Span: last.Span}
	}
	s.CPU = size
	return s, nil
}

// defaultSize returns the size of a VM for a level with no level below it.
func (f *groupBuilder) defaultSize(u Unit) cluster.MilliCPU {
	switch u {
	case CPU:
		return cluster.CPU * cluster.MilliCPU(f.site.CoresPerCPU)
	case Core:
		return cluster.CPU
	default:
		return 0 // a whole node
	}
}

// partSize returns the size of a VM from a level below the VM's: cores of a cpu, cpus or cores of a node.
// above is the size so far.
func (f *groupBuilder) partSize(l, outer Level, above cluster.MilliCPU) (cluster.MilliCPU, error) {
	perCPU := f.site.unit(l.Name) == Core && f.site.unit(outer.Name) == CPU
	if l.Count == All {
		return above, nil
	}
	n, ok := l.Count.Number()
	one := f.defaultSize(f.site.unit(l.Name))
	if perCPU {
		one = above / cluster.MilliCPU(f.site.CoresPerCPU) // one in each cpu
	}
	switch {
	case !ok:
		return 0, f.fail(l, "a VM has its size before it is known what is free: want a number or ALL")
	case perCPU && above == 0:
		return 0, f.fail(l, "it is not known how many cpus a node has: want a number of %s", outer.Name)
	case perCPU && f.site.CoresPerCPU > 1 && n > f.site.CoresPerCPU:
		return 0, f.fail(l, "a %s has %d cores", outer.Name, f.site.CoresPerCPU)
	case n > int(MaxCPUs*cluster.CPU/one):
		return 0, f.fail(l, "a VM has at most %d processors", MaxCPUs)
	}
	return one * cluster.MilliCPU(n), nil
}

// fail refuses a level that parses but has no meaning here.
func (f *groupBuilder) fail(l Level, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	return &oar.Error{
		Exit: oar.ExitResources, OAR: oar.BadRequest + " (" + l.String() + ")",
		Position: f.source.At(l.Span), Text: text,
	}
}
