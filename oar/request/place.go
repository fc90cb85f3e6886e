package request

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/internal/suggest"
	"vjob/oar"
	"vjob/oar/property"
	"vjob/repack/script"
)

// MaxVMs is the maximal number of VMs of an alternative.
const MaxVMs = 10_000

// Spec is a request with the other options that restrict nodes and size VMs.
type Spec struct {
	Request *Request
	// Filters are the properties of -p and those that administrators add. Nodes must match all.
	Filters []property.Filter
	// Memory of each VM; 0 is the VM's share of its node.
	Memory cluster.MiB
	// Sharers is the number of jobs that may share the processors of a VM: it reserves its part of them, and of its
	// share of the memory of a node. 0 is 1.
	Sharers int
}

// part returns what a VM of this size reserves.
func (w *Spec) part(size cluster.Resources) cluster.Resources {
	if w.Sharers < 2 {
		return size
	}
	size.CPU = max(size.CPU/cluster.MilliCPU(w.Sharers), 1)
	if w.Memory == 0 {
		size.Memory = max(size.Memory/cluster.MiB(w.Sharers), 1)
	}
	return size
}

// Placement is an alternative as VMs with rules.
type Placement struct {
	VMs      []cluster.Resources // by rank
	Rules    string              // in the language of docs/reference/rules.md, may be ""
	Walltime time.Duration       // or NoWalltime
}

// CPU returns the sum of processors, which OAR shows as R= in the message of a job.
func (m *Placement) CPU() (sum cluster.MilliCPU) {
	for _, vm := range m.VMs {
		sum += vm.CPU
	}
	return sum
}

// Place places each alternative of a request on a cluster. As in OAR, an alternative that does not fit
// on the empty cluster refuses the whole request. The error is an [*oar.Error] with the exit code 8.
func Place(w Spec, inventory Inventory, site Config) ([]Placement, error) {
	labels := inventory.labels()
	names := slices.Concat(labels, site.Nodes, []string{cpuProperty, memoryProperty})
	for _, f := range w.Filters {
		if err := f.Check(names); err != nil {
			return nil, err
		}
	}
	list := make([]Placement, len(w.Request.Alternatives))
	for i, a := range w.Request.Alternatives {
		shapes, err := VMGroups(a, site)
		if err != nil {
			return nil, err
		}
		p := placer{spec: w, inventory: &inventory, known: labels, site: site, source: a.Source, multiple: len(shapes) > 1, sets: map[string]string{}}
		for j := range shapes {
			if err := shapes[j].Property.Check(names); err != nil {
				return nil, err
			}
			if err := p.group(&shapes[j], a.Groups[j]); err != nil {
				return nil, err
			}
		}
		list[i] = Placement{VMs: p.vms, Rules: p.rules.String(), Walltime: a.Walltime}
	}
	return list, nil
}

// placer places the groups of one alternative, in order.
type placer struct {
	spec      Spec
	inventory *Inventory
	known     []string // labels of the nodes
	site      Config
	source    oar.Source
	multiple  bool // there are several groups
	vms       []cluster.Resources
	rules     strings.Builder
	sets      map[string]string // variables of the rules, by their values
}

// group adds the VMs of one group, with sizes and rules.
func (p *placer) group(s *VMGroup, g Group) error {
	nodes, filters := p.matching(s)
	if len(nodes) == 0 {
		return p.fail(g.Span, "no node matches")
	}
	labels, err := p.labels(s)
	if err != nil {
		return err
	}
	all := divide(nodes, labels)
	size, err := p.size(s, all.inner(), g)
	if err != nil {
		return err
	}
	rules := &ruleWriter{placer: p, vms: s, request: g, filters: filters, matching: nodes, labels: labels, all: all, first: len(p.vms)}
	counts, words := p.counts(s, all, size)
	if words {
		if rules.cells, err = p.choose(all, s, size); err != nil {
			return err
		}
		for i, c := range rules.cells {
			if rules.cells[i].size, err = p.size(s, []*region{{nodes: c.nodes}}, g); err != nil {
				return err
			}
		}
	} else {
		if !all.enough(counts, size, s.Unit) {
			return p.tooFew(s, all, size, counts)
		}
		rules.counts = counts
		rules.cells = []cell{{nodes: nodes, vms: product(counts), size: size}}
	}
	for _, c := range rules.cells {
		if len(p.vms)+c.vms > MaxVMs {
			return p.fail(g.Span, fmt.Sprintf("this means more than %d VMs", MaxVMs))
		}
		p.vms = append(p.vms, slices.Repeat([]cluster.Resources{p.spec.part(c.size)}, c.vms)...)
	}
	rules.total = len(p.vms) - rules.first
	rules.write(&p.rules)
	if p.rules.Len() > script.MaxSource {
		return p.fail(g.Span, fmt.Sprintf("the rules that say where these VMs may be have more than %d bytes", script.MaxSource))
	}
	return nil
}

// matching returns the nodes that match a group, sorted by name, and its conditions. Nodes that are
// down are left out: OAR calls them dead.
func (p *placer) matching(s *VMGroup) (nodes []*cluster.Node, filters []property.Filter) {
	for _, f := range append(slices.Clone(p.spec.Filters), s.Property) {
		if f.Expr != nil {
			filters = append(filters, f)
		}
	}
	for i := range p.inventory.Nodes {
		n := &p.inventory.Nodes[i]
		of := nodeProperties(n, p.site)
		if n.State != cluster.Down && !slices.ContainsFunc(filters, func(f property.Filter) bool { return !f.Matches(of) }) {
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, byName)
	return nodes, filters
}

// labels returns the labels of the group as the nodes spell them.
func (p *placer) labels(s *VMGroup) ([]string, error) {
	keys := make([]string, len(s.Labels))
	for i, l := range s.Labels {
		key, ok := labelKey(l.Name, p.known)
		if !ok {
			text := fmt.Sprintf("%s is neither a node, a cpu or a core nor a label of any node", l.Name)
			if near := suggest.Nearest(l.Name, slices.Concat(p.known, []string{"nodes", "cpu", "core"})); near != "" {
				text += "; did you mean " + near + "?"
			}
			return nil, &oar.Error{
				Exit: oar.ExitResources, OAR: fmt.Sprintf("%s (ERROR: column %q does not exist)", oar.BadRequest, l.Name),
				Position: p.source.At(l.Span), Text: text,
			}
		}
		keys[i] = key
	}
	return keys, nil
}

// size returns the size of each VM in some regions. A whole node is as large as the smallest node, so
// that each node can host it. Memory without a request is the smallest share.
func (p *placer) size(s *VMGroup, regions []*region, g Group) (cluster.Resources, error) {
	var size cluster.Resources
	for _, r := range regions {
		for _, n := range r.nodes {
			here := cluster.Resources{CPU: s.CPU, Memory: p.spec.Memory}
			if s.Whole() {
				here.CPU = n.Capacity.CPU
			}
			if here.CPU <= 0 || here.CPU > n.Capacity.CPU {
				continue
			}
			if here.Memory == 0 {
				here.Memory = n.Capacity.Memory * cluster.MiB(here.CPU) / cluster.MiB(n.Capacity.CPU)
			}
			if here.Memory > n.Capacity.Memory || here.Memory == 0 {
				continue
			}
			if size.IsZero() {
				size = here
			}
			size = cluster.Resources{CPU: min(size.CPU, here.CPU), Memory: min(size.Memory, here.Memory)}
		}
	}
	switch {
	case size.IsZero() && s.Whole():
		return size, p.fail(g.Span, "no node that matches has room for a VM")
	case size.IsZero() && p.spec.Memory > 0:
		return size, p.fail(g.Span, fmt.Sprintf("no node that matches has room for a VM of %s", cluster.Resources{CPU: s.CPU, Memory: p.spec.Memory}))
	case size.IsZero():
		return size, p.fail(g.Span, fmt.Sprintf("no node that matches has room for a VM of %s CPU", s.CPU))
	}
	return size, nil
}

// tooFew returns the error for the level at which the empty cluster is too small. counts is nil if
// words are not resolved yet.
func (p *placer) tooFew(s *VMGroup, all *region, size cluster.Resources, counts []int) error {
	room := 0
	for _, r := range all.inner() {
		room = max(room, capacity(r.nodes, size, s.Unit))
	}
	want, _ := s.VMs.Count.Number()
	if len(s.Labels) == 0 || want > room {
		where := ""
		if len(s.Labels) > 0 {
			where = " of one " + s.Labels[len(s.Labels)-1].Name
		}
		return p.fail(s.VMs.Span, fmt.Sprintf("the nodes%s that match have room for %s of %s", where, cluster.Count(room, "VM"), size))
	}
	l := s.Labels[0]
	have := len(all.parts)
	if counts != nil {
		have = all.countEnough(counts, size, s.Unit)
	}
	return p.fail(l.Span, fmt.Sprintf("of the groups of nodes by %s, %d match and have enough room", l.Name, have))
}

// fail returns OAR's error for too few resources.
func (p *placer) fail(at oar.Span, text string) error {
	return &oar.Error{
		Exit: oar.ExitResources, OAR: oar.NotEnoughResources, Position: p.source.At(at), Text: text,
	}
}
