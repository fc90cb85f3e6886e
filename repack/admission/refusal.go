package admission

import (
	"fmt"
	"slices"
	"strings"

	"vjob/repack"
)

// Refusal is why a [Test] did not take VMs: all nodes together lack room, a rule bans a VM, or
// no single node has room for it.
type Refusal struct {
	// Missing is what the nodes lack in sum, by dimension; nil if they have enough.
	Missing []int64
	// VM is the first VM without a place; Nowhere if Missing is set.
	VM int
	// Rule keeps the VM from where there is room, or from running at all; nil if no single
	// node has room.
	Rule repack.Rule
	in   *repack.Instance
}

// String returns the refusal in words: "3000 cpu and 2 mem are missing", "ban({VM 1}, {n1}) is
// in the way of VM 1", "the room left lies in pieces too small for VM 1".
func (r Refusal) String() string {
	var list []string
	for d, x := range r.Missing {
		if x > 0 {
			list = append(list, fmt.Sprintf("%d %s", x, r.in.Dims[d]))
		}
	}
	switch {
	case len(list) > 0:
		return strings.Join(list, " and ") + " are missing"
	case r.Rule != nil:
		return fmt.Sprintf("%s is in the way of %s", r.Rule, r.in.VMName(r.VM))
	case r.in == nil:
		return ""
	case r.in.VMs[r.VM].Stays || r.in.VMs[r.VM].Want != repack.Running:
		return r.in.VMName(r.VM) + " is not to run"
	default:
		return "the room left lies in pieces too small for " + r.in.VMName(r.VM)
	}
}

// immediateRefusal refuses VMs that are known to have no place.
func (t *search) immediateRefusal(vms []int) (why Refusal, refused bool) {
	for _, vm := range vms {
		if v := &t.In.VMs[vm]; v.Stays || v.Want != repack.Running {
			return Refusal{VM: vm, Rule: t.ruleStopping(vm), in: t.In}, true
		}
	}
	if missing := t.missing(vms); missing != nil {
		return Refusal{Missing: missing, VM: repack.Nowhere, in: t.In}, true
	}
	return t.knownNoFit(vms)
}

// ruleStopping returns the rule that keeps a VM from running; nil if the VM itself does.
func (t *search) ruleStopping(vm int) repack.Rule {
	for _, r := range t.In.Rules {
		alone := *t.In
		alone.Rules = []repack.Posted{r}
		alone.VMs = slices.Clone(t.In.VMs)
		alone.VMs[vm].Want = repack.Running
		if out, err := alone.Amended(); err == nil && out.VMs[vm].Want != repack.Running {
			return r.Rule
		}
	}
	return nil
}

// missing returns what all accepting nodes lack for more VMs; nil if nothing. VMs on closed
// nodes may stay there.
func (t *search) missing(vms []int) []int64 {
	t.Free.Refresh()
	lack, short := make([]int64, t.Dims), false
	for d := range lack {
		lack[d] = -t.Free.TotalFree[d]
	}
	for _, vm := range vms {
		if !t.mayRemain(vm) {
			for d := range lack {
				lack[d] += t.Next[vm*t.Dims+d]
			}
		}
	}
	for d := range lack {
		lack[d] = max(0, lack[d])
		short = short || lack[d] > 0
	}
	if !short {
		return nil
	}
	return lack
}

// reason returns why an item finds no place now: the first rule that keeps it from a node with
// room, if there is one.
func (t *search) reason(it item) Refusal {
	r := Refusal{VM: it.vms[0], in: t.In}
	t.Free.Each(it.need, 0, func(n int) bool {
		r.Rule = t.against(it, n)
		return r.Rule == nil
	})
	if r.Rule == nil && len(it.vms) > 1 {
		r.Rule = it.rule // one by one they might fit
	}
	return r
}

// against returns a rule that keeps an item off a node.
func (t *search) against(it item, n int) repack.Rule {
	mark := len(t.Moves)
	defer t.RollBack(mark)
	for _, vm := range it.vms {
		if t.Banned[vm].Has(n) {
			return t.ruleAgainst(vm, n)
		}
		for _, list := range t.Concerned(vm, repack.Nowhere, n) {
			for _, number := range list {
				g := &t.Guards[number]
				if g.Penalty == 0 && g.Nodes.Touches(repack.Nowhere, n) && g.Delta(vm, repack.Nowhere, n) > 0 {
					return g.Rule
				}
			}
		}
		t.Move(vm, n)
	}
	return nil
}
