package admission

import (
	"vjob/repack"
	"vjob/repack/internal/problem"
)

// ruleIndex finds the rule that keeps a VM from a node, as a problem has only the sum of the
// rules. It is filled when the first refusal needs it.
type ruleIndex struct {
	silent
	in   *repack.Instance
	rule repack.Rule
	of   [][]ban // by VM
}

// ban is a node that a VM must not use, or the nodes that are left to it.
type ban struct {
	rule repack.Rule
	node int
	only *problem.NodeSet // nil for a single node
}

// ruleAgainst returns the first rule that keeps the VM from the node.
func (t *search) ruleAgainst(vm, n int) repack.Rule {
	if t.ruleIndex == nil {
		t.ruleIndex = &ruleIndex{in: t.In, of: make([][]ban, len(t.In.VMs))}
		for _, r := range t.In.Rules {
			t.ruleIndex.rule = r.Rule
			if r.Penalty == 0 {
				r.Post(t.ruleIndex)
			}
		}
	}
	for _, b := range t.ruleIndex.of[vm] {
		if b.only == nil && b.node == n || b.only != nil && !b.only.Has(n) {
			return b.rule
		}
	}
	return nil
}

// Instance returns the amended instance.
func (b *ruleIndex) Instance() *repack.Instance { return b.in }

// Forbid records the node.
func (b *ruleIndex) Forbid(vm, node int, _ bool) {
	b.of[vm] = append(b.of[vm], ban{rule: b.rule, node: node})
}

// Confine records the nodes that are left.
func (b *ruleIndex) Confine(vms, nodes []int, _ bool) {
	only := problem.NewNodeSet(len(b.in.Nodes), append([]int{}, nodes...))
	for _, vm := range vms {
		b.of[vm] = append(b.of[vm], ban{rule: b.rule, only: only})
	}
}

// silent is a board that ignores the other parts of rules.
type silent struct{}

var _ repack.ConstraintStore = (*ruleIndex)(nil)

func (silent) Limit([]int, int, bool)              {}
func (silent) Root(int)                            {}
func (silent) Guard(repack.Guard, repack.Scope)    {}
func (silent) Watch(repack.Watch, repack.Scope)    {}
func (silent) Gate(repack.Gate, []int)             {}
func (silent) Together([]int, bool)                {}
func (silent) Due(int, repack.Ticks, repack.Ticks) {}
