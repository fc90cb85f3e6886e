package ctxswitch

import (
	"slices"

	"vjob/cluster"
	"vjob/repack"
)

// AllowedNodes says where VMs that run may go to, as far as rules, the soft ones too, tell that
// of each VM by itself: for those who look for better places before they ask for a plan.
type AllowedNodes struct {
	*repacking
	hard, soft *couplings
}

// NewAllowedNodes reads the rules of a problem. The error is one of a problem for which there
// is no plan.
func NewAllowedNodes(p Problem) (*AllowedNodes, error) {
	s, err := newSurvey(p)
	if err != nil {
		return nil, err
	}
	q, err := newRepacking(s)
	if err != nil {
		return nil, s.refusal(err.Error())
	}
	l := &AllowedNodes{q, newCouplings(&q.in), newCouplings(&q.in)}
	for _, r := range q.in.Rules {
		if r.Penalty == 0 {
			r.Post(l.hard)
		} else {
			r.Post(l.soft)
		}
	}
	return l, nil
}

// Stays reports whether a VM has to stay where it is, whatever becomes of others.
func (l *AllowedNodes) Stays(vm cluster.VMID) bool {
	i, known := l.vmIndex[vm]
	return !known || l.in.VMs[i].Stays || l.hard.kept[i] || l.soft.kept[i]
}

// Confined reports whether a hard rule keeps a VM that runs from leaving its node for any
// that takes VMs: it may not migrate, or may be on none of them.
func (l *AllowedNodes) Confined(vm cluster.VMID) bool {
	i, known := l.vmIndex[vm]
	if !known || l.hard.rooted[i] {
		return known
	}
	for n := range l.nodes {
		if l.nodes[n].Hosts() && n != l.in.VMs[i].Host && l.hard.permits(i, n) {
			return false
		}
	}
	return true
}

// May reports whether a VM may be on a node for all that rules say of it by itself. A soft
// rule that it keeps it goes on keeping.
func (l *AllowedNodes) May(vm cluster.VMID, node cluster.NodeID) bool {
	i, n := l.vmIndex[vm], l.indexOf(node)
	if n == repack.Nowhere || !l.nodes[n].Hosts() || !l.hard.permits(i, n) {
		return false
	}
	return l.soft.permits(i, n) || !l.soft.permits(i, l.in.VMs[i].Host)
}

// Tied tells whether a rule looks at a VM together with others, and at which: those with
// the same number. With strict false only soft rules count.
func (l *AllowedNodes) Tied(vm cluster.VMID, strict bool) (group int, tied bool) {
	if group, tied = l.soft.group(l.vmIndex[vm]); !tied && strict {
		group, tied = l.hard.group(l.vmIndex[vm])
		group = -1 - group
	}
	return group, tied
}

// Fits reports whether no rule is broken, or broken more, when a VM goes to a node and all
// others are where they are.
func (l *AllowedNodes) Fits(vm cluster.VMID, node cluster.NodeID) bool {
	i, n := l.vmIndex[vm], l.indexOf(node)
	return n != repack.Nowhere && l.hard.accepts(i, n) && l.soft.accepts(i, n)
}

// couplings is a board that learns besides which VMs are not free to go by themselves.
type couplings struct {
	*ruleProbe
	kept    map[int]bool
	rooted  map[int]bool // those of them that may not migrate whatever others do
	groupOf map[int]int  // VMs that are looked at together have the same one
	groups  int          // so many numbers were given
	all     bool         // all VMs are looked at together
	guards  map[int][]scopedGuard
}

// scopedGuard is a rule that looks at who is where.
type scopedGuard struct {
	repack.Guard
	nodes []int // nil: all
}

// allVMs stands for all VMs.
const allVMs = -1

func newCouplings(in *repack.Instance) *couplings {
	return &couplings{ruleProbe: newRuleProbe(in), kept: map[int]bool{}, rooted: map[int]bool{}, groupOf: map[int]int{}, guards: map[int][]scopedGuard{}}
}

// group is the number of those that are looked at together with a VM.
func (l *couplings) group(vm int) (group int, tied bool) {
	if l.all {
		return 0, true
	}
	group, tied = l.groupOf[vm]
	return group, tied
}

// accepts reports whether no guard counts more breaches when a VM goes to a node.
func (l *couplings) accepts(vm, node int) bool {
	from := l.in.VMs[vm].Host
	objects := func(g scopedGuard) bool {
		concerns := g.nodes == nil || slices.Contains(g.nodes, node) || slices.Contains(g.nodes, from)
		return concerns && g.Delta(vm, from, node) > 0
	}
	return !slices.ContainsFunc(l.guards[vm], objects) && !slices.ContainsFunc(l.guards[allVMs], objects)
}

// Root notes the VM.
func (l *couplings) Root(vm int) { l.kept[vm], l.rooted[vm] = true, true }

// Guard ties the VMs, and has everybody be where he is.
func (l *couplings) Guard(g repack.Guard, s repack.Scope) {
	l.couple(s.VMs, s.Nodes == nil)
	come := func(vm int) {
		if v := &l.in.VMs[vm]; v.Keeps() {
			g.Move(vm, repack.Nowhere, v.Host)
		}
	}
	if s.VMs == nil {
		for vm := range l.in.VMs {
			come(vm)
		}
		l.guards[allVMs] = append(l.guards[allVMs], scopedGuard{g, s.Nodes})
	}
	for _, vm := range s.VMs {
		come(vm)
		l.guards[vm] = append(l.guards[vm], scopedGuard{g, s.Nodes})
	}
}

// Watch ties the VMs.
func (l *couplings) Watch(_ repack.Watch, s repack.Scope) { l.couple(s.VMs, s.Nodes == nil) }

// Gate has the VMs stay: it is about the order in which they go.
func (l *couplings) Gate(_ repack.Gate, vms []int) { l.keep(vms) }

// Together has the VMs stay: they would have to go at once.
func (l *couplings) Together(vms []int, _ bool) { l.keep(vms) }

// Due has the VM stay.
func (l *couplings) Due(vm int, _, _ repack.Ticks) { l.kept[vm] = true }

func (l *couplings) keep(vms []int) {
	for _, vm := range vms {
		l.kept[vm] = true
	}
}

// couple has VMs be looked at together, and with them those with whom they already are.
func (l *couplings) couple(vms []int, everywhere bool) {
	if vms == nil {
		l.all = l.all || everywhere
		return
	}
	group := l.groups
	l.groups++
	for _, vm := range vms {
		if old, tied := l.groupOf[vm]; tied && old != group {
			for other, g := range l.groupOf {
				if g == old {
					l.groupOf[other] = group
				}
			}
		}
		l.groupOf[vm] = group
	}
}
