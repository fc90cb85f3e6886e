package ctxswitch

import (
	"slices"

	"vjob/repack"
)

// witness is a board that learns what a rule says of VMs one by one, and of those
// that stay where they are.
type witness struct {
	in     *repack.Instance
	guilty map[int]bool           // VMs that stay, and break the rule where they are
	barred map[int]map[int]bool   // nodes that are forbidden to VMs
	within map[int][]map[int]bool // sets of nodes to which VMs are confined
}

var _ repack.Board = (*witness)(nil)

func newWitness(in *repack.Instance) *witness {
	return &witness{in: in, guilty: map[int]bool{}, barred: map[int]map[int]bool{}, within: map[int][]map[int]bool{}}
}

// guilty are the VMs that are not to be touched and break a rule by themselves.
func (g *stage) guilty(r repack.Rule) map[int]bool {
	w := newWitness(&g.in)
	r.Post(w)
	return w.guilty
}

// allowed tells whether no rule keeps a VM from a node whatever others do.
func (g *stage) allowed() func(vm, node int) bool {
	w := newWitness(&g.in)
	for _, r := range g.in.Rules {
		if r.Penalty == 0 {
			r.Post(w)
		}
	}
	return w.permits
}

// permits reports whether no rule keeps a VM from a node whatever others do.
func (w *witness) permits(vm, node int) bool {
	outside := slices.ContainsFunc(w.within[vm], func(nodes map[int]bool) bool { return !nodes[node] })
	return !w.barred[vm][node] && !outside
}

// stays reports whether a VM is not to be touched, and where it runs.
func (w *witness) stays(vm int) (host int, ok bool) {
	v := &w.in.VMs[vm]
	return v.Host, v.Stays && v.State == repack.Running
}

// Instance is that of the stage.
func (w *witness) Instance() *repack.Instance { return w.in }

// Forbid notes the node.
func (w *witness) Forbid(vm, node int, _ bool) {
	if w.barred[vm] == nil {
		w.barred[vm] = map[int]bool{}
	}
	w.barred[vm][node] = true
	if host, ok := w.stays(vm); ok && host == node {
		w.guilty[vm] = true
	}
}

// Confine notes the nodes.
func (w *witness) Confine(vms, nodes []int, _ bool) {
	only := make(map[int]bool, len(nodes))
	for _, n := range nodes {
		only[n] = true
	}
	for _, vm := range vms {
		w.within[vm] = append(w.within[vm], only)
		if host, ok := w.stays(vm); ok && !only[host] {
			w.guilty[vm] = true
		}
	}
}

// Guard lets those who stay come one after another; who adds to the breaches is
// guilty.
func (w *witness) Guard(g repack.Guard, s repack.Scope) {
	come := func(vm int) {
		host, ok := w.stays(vm)
		if !ok || s.Nodes != nil && !slices.Contains(s.Nodes, host) {
			return
		}
		if g.Delta(vm, repack.Nowhere, host) > 0 {
			w.guilty[vm] = true
			return
		}
		g.Move(vm, repack.Nowhere, host)
	}
	if s.VMs != nil {
		for _, vm := range s.VMs {
			come(vm)
		}
		return
	}
	for vm := range w.in.VMs {
		come(vm)
	}
}

// What else rules say is about ways and times, of which those who stay have none.

// Limit is of no concern.
func (w *witness) Limit([]int, int, bool) {}

// Root is of no concern.
func (w *witness) Root(int) {}

// Watch is of no concern.
func (w *witness) Watch(repack.Watch, repack.Scope) {}

// Gate is of no concern.
func (w *witness) Gate(repack.Gate, []int) {}

// Together is of no concern.
func (w *witness) Together([]int, bool) {}

// Due is of no concern.
func (w *witness) Due(int, repack.Ticks, repack.Ticks) {}
