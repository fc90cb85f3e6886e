package ctxswitch

import (
	"slices"

	"vjob/repack"
)

// ruleProbe is a constraint store that records what a rule says of single VMs, and which VMs that stay
// break it.
type ruleProbe struct {
	in        *repack.Instance
	violators map[int]bool           // VMs that stay where they are and break the rule there
	forbidden map[int]map[int]bool   // nodes that are forbidden to VMs
	confined  map[int][]map[int]bool // sets of nodes to which VMs are confined
}

var _ repack.ConstraintStore = (*ruleProbe)(nil)

func newRuleProbe(in *repack.Instance) *ruleProbe {
	return &ruleProbe{in: in, violators: map[int]bool{}, forbidden: map[int]map[int]bool{}, confined: map[int][]map[int]bool{}}
}

// violators returns the VMs that may not be touched and break a rule by themselves.
func (g *instanceBuilder) violators(r repack.Rule) map[int]bool {
	w := newRuleProbe(&g.in)
	r.Post(w)
	return w.violators
}

// allowed returns a function that reports whether no hard rule keeps a VM off a node, wherever
// other VMs are.
func (g *instanceBuilder) allowed() func(vm, node int) bool {
	w := newRuleProbe(&g.in)
	for _, r := range g.in.Rules {
		if r.Penalty == 0 {
			r.Post(w)
		}
	}
	return w.permits
}

// permits reports whether no rule keeps a VM off a node, wherever other VMs are.
func (w *ruleProbe) permits(vm, node int) bool {
	outside := slices.ContainsFunc(w.confined[vm], func(nodes map[int]bool) bool { return !nodes[node] })
	return !w.forbidden[vm][node] && !outside
}

// stays returns the node of a VM that runs and may not be touched.
func (w *ruleProbe) stays(vm int) (host int, ok bool) {
	v := &w.in.VMs[vm]
	return v.Host, v.Stays && v.State == repack.Running
}

// Instance returns the instance of the rules.
func (w *ruleProbe) Instance() *repack.Instance { return w.in }

// Forbid records the node.
func (w *ruleProbe) Forbid(vm, node int, _ bool) {
	if w.forbidden[vm] == nil {
		w.forbidden[vm] = map[int]bool{}
	}
	w.forbidden[vm][node] = true
	if host, ok := w.stays(vm); ok && host == node {
		w.violators[vm] = true
	}
}

// Confine records the nodes.
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

// Guard places the VMs that stay one after another. VMs that add breaches are violators.
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

// The other constraints are about transitions and times, which VMs that stay do not have.

// Limit does nothing.
func (w *ruleProbe) Limit([]int, int, bool) {}

// Root does nothing.
func (w *ruleProbe) Root(int) {}

// Watch does nothing.
func (w *ruleProbe) Watch(repack.Watch, repack.Scope) {}

// Gate does nothing.
func (w *ruleProbe) Gate(repack.Gate, []int) {}

// Together does nothing.
func (w *ruleProbe) Together([]int, bool) {}

// Due does nothing.
func (w *ruleProbe) Due(int, repack.Ticks, repack.Ticks) {}
