package request

import (
	"fmt"

	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/property"
)

// MaxCPUs is the most processors of one VM.
const MaxCPUs = 100_000

// VMGroup is what one group asks for, whatever nodes there are.
type VMGroup struct {
	Property property.Filter
	// Labels are groups of nodes within each other, from the outer to the inner: so
	// many of each.
	Labels []Level
	// VMs is how many there are in each of the innermost groups.
	VMs Level
	// Unit is what one VM stands for. On the level of nodes each has one of its own.
	Unit Unit
	// CPU is the size of one VM; 0 is all of its node.
	CPU cluster.MilliCPU
}

// Whole reports whether each VM takes all of its node.
func (s *VMGroup) Whole() bool { return s.CPU == 0 }

// VMGroups are the groups of an alternative in terms of VMs. The error is a
// [*oar.Error] with the exit code 8.
func VMGroups(a Alternative, site Config) ([]VMGroup, error) {
	list := make([]VMGroup, len(a.Groups))
	for i, g := range a.Groups {
		f := groupBuilder{source: a.Source, site: site}
		var err error
		if list[i], err = f.shape(g); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// groupBuilder forms one shape.
type groupBuilder struct {
	source oar.Source
	site   Config
}

// shape puts the labels first, then the level that the VMs stand for; what is below
// it is their size.
func (f *groupBuilder) shape(g Group) (VMGroup, error) {
	s := VMGroup{Property: g.Property, Unit: Label}
	size := cluster.MilliCPU(0)
	before := Label
	for i, l := range g.Levels {
		u := f.site.unit(l.Name)
		switch {
		case u > before:
			return s, f.bad(l, "%s stands below %s: levels go from the outer to the inner", l.Name, g.Levels[i-1].Name)
		case u == before && u != Label:
			return s, f.bad(l, "%s and %s mean the same: want one of them", g.Levels[i-1].Name, l.Name)
		case l.Count == "0":
			return s, &oar.Error{
				Exit: oar.ExitResources, OAR: oar.NotEnoughResources, Position: f.source.At(l.Span),
				Text: "this asks for nothing: want 1 or more, ALL, BEST or BESTHALF",
			}
		case u == Label:
			s.Labels = append(s.Labels, l)
		case s.Unit == Label:
			s.Unit, s.VMs, size = u, l, f.alone(u)
		default:
			var err error
			if size, err = f.part(l, g.Levels[i-1], size); err != nil {
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

// alone is the size of a VM that stands for a level with nothing below it.
func (f *groupBuilder) alone(u Unit) cluster.MilliCPU {
	switch u {
	case CPU:
		return cluster.CPU * cluster.MilliCPU(f.site.CoresPerCPU)
	case Core:
		return cluster.CPU
	default:
		return 0 // all of the node
	}
}

// part is the size of a VM, given the level and the size above a level that counts
// what of it: cores of a cpu, cpus or cores of a node.
func (f *groupBuilder) part(l, outer Level, above cluster.MilliCPU) (cluster.MilliCPU, error) {
	perCPU := f.site.unit(l.Name) == Core && f.site.unit(outer.Name) == CPU
	if l.Count == All {
		return above, nil
	}
	n, ok := l.Count.Number()
	one := f.alone(f.site.unit(l.Name))
	if perCPU {
		one = above / cluster.MilliCPU(f.site.CoresPerCPU) // one in each cpu
	}
	switch {
	case !ok:
		return 0, f.bad(l, "a VM has its size before it is known what is free: want a number or ALL")
	case perCPU && above == 0:
		return 0, f.bad(l, "it is not known how many cpus a node has: want a number of %s", outer.Name)
	case perCPU && f.site.CoresPerCPU > 1 && n > f.site.CoresPerCPU:
		return 0, f.bad(l, "a %s has %d cores", outer.Name, f.site.CoresPerCPU)
	case n > int(MaxCPUs*cluster.CPU/one):
		return 0, f.bad(l, "a VM has at most %d processors", MaxCPUs)
	}
	return one * cluster.MilliCPU(n), nil
}

// bad refuses a level that can be read and means nothing here.
func (f *groupBuilder) bad(l Level, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	return &oar.Error{
		Exit: oar.ExitResources, OAR: oar.BadRequest + " (" + l.String() + ")",
		Position: f.source.At(l.Span), Text: text,
	}
}
