package ctxswitch

import (
	"slices"

	"vjob/repack"
)

// ruleProbe is a board that learns what a rule says of VMs one by one, and of those
// that stay where they are.
type ruleProbe struct {
	in        *repack.Instance
	violators map[int]bool           // VMs that stay, and break the rule where they are
	forbidden map[int]map[int]bool   // nodes that are forbidden to VMs
	confined  map[int][]map[int]bool // sets of nodes to which VMs are confined
}

var _ repack.Board = (*ruleProbe)(nil)

func newRuleProbe(in *repack.Instance) *ruleProbe {
	return &ruleProbe{in: in, violators: map[int]bool{}, forbidden: map[int]map[int]bool{}, confined: map[int][]map[int]bool{}}
}

// violators are the VMs that are not to be touched and break a rule by themselves.
func (g *instanceBuilder) violators(r repack.Rule) map[int]bool {
	w := newRuleProbe(&g.in)
	r.Post(w)
	return w.violators
}

// allowed tells whether no rule keeps a VM from a node whatever others do.
func (g *instanceBuilder) allowed() func(vm, node int) bool {
	w := newRuleProbe(&g.in)
	for _, r := range g.in.Rules {
		if r.Penalty == 0 {
			r.Post(w)
		}
	}
	return w.permits
}

// permits reports whether no rule keeps a VM from a node whatever others do.
func (w *ruleProbe) permits(vm, node int) bool {
	outside := slices.ContainsFunc(w.confined[vm], func(nodes map[int]bool) bool { return !nodes[node] })
	return !w.forbidden[vm][node] && !outside
}

// stays reports whether a VM is not to be touched, and where it runs.
func (w *ruleProbe) stays(vm int) (host int, ok bool) {
	v := &w.in.VMs[vm]
	return v.Host, v.Stays && v.State == repack.Running
}

// Instance is that of the stage.
func (w *ruleProbe) Instance() *repack.Instance { return w.in }

// Forbid notes the node.
func (w *ruleProbe) Forbid(vm, node int, _ bool) {
	if w.forbidden[vm] == nil {
		w.forbidden[vm] = map[int]bool{}
	}
	w.forbidden[vm][node] = true
	if host, ok := w.stays(vm); ok && host == node {
		w.violators[vm] = true
	}
}

// Confine notes the nodes.
func (w *ruleProbe) Confine(vms, nodes []int, _ bool) {
	only := make(map[int]bool, len(nodes))
	for _, n := range nodes {
		only[n] = true
	}
	for _, vm := range vms {
		w.confined[vm] = append(w.confined[vm], only)
		if host, ok := w.stays(vm); ok && !only[host] {
			w.violators[vm] = true
		}
	}
}

// Guard lets those who stay come one after another; who adds to the breaches is
// guilty.
func (w *ruleProbe) Guard(g repack.Guard, s repack.Scope) {
	come := func(vm int) {
		host, ok := w.stays(vm)
		if !ok || s.Nodes != nil && !slices.Contains(s.Nodes, host) {
			return
		}
		if g.Delta(vm, repack.Nowhere, host) > 0 {
			w.violators[vm] = true
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
func (w *ruleProbe) Limit([]int, int, bool) {}

// Root is of no concern.
func (w *ruleProbe) Root(int) {}

// Watch is of no concern.
func (w *ruleProbe) Watch(repack.Watch, repack.Scope) {}

// Gate is of no concern.
func (w *ruleProbe) Gate(repack.Gate, []int) {}

// Together is of no concern.
func (w *ruleProbe) Together([]int, bool) {}

// Due is of no concern.
func (w *ruleProbe) Due(int, repack.Ticks, repack.Ticks) {}
