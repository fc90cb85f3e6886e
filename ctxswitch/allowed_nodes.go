package ctxswitch

import (
	"slices"

	"vjob/cluster"
	"vjob/repack"
)

// AllowedNodes says to which nodes running VMs may move, as far as hard and soft rules decide
// that for each VM by itself. Optimisers ask it before they ask for a plan.
type AllowedNodes struct {
	*repacking
	hard, soft *couplings
}

// NewAllowedNodes reads the rules of a problem. The error is that of a problem without a plan.
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

// Stays reports whether a VM has to stay where it is, wherever other VMs go.
func (l *AllowedNodes) Stays(vm cluster.VMID) bool {
	i, known := l.vmNumbers.of(vm)
	return !known || l.in.VMs[i].Stays || l.hard.kept[i] || l.soft.kept[i]
}

// Confined reports whether hard rules keep a running VM on its node: it may not migrate, or no
// other node that takes VMs is allowed.
func (l *AllowedNodes) Confined(vm cluster.VMID) bool {
	i, known := l.vmNumbers.of(vm)
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

// Allows reports whether the rules allow a VM on a node, the VM taken by itself. A VM that keeps a
// soft rule has to go on keeping it.
func (l *AllowedNodes) Allows(vm cluster.VMID, node cluster.NodeID) bool {
	i, n := l.numberOf(vm), l.indexOf(node)
	if n == repack.Nowhere || !l.nodes[n].Hosts() || !l.hard.permits(i, n) {
		return false
	}
	return l.soft.permits(i, n) || !l.soft.permits(i, l.in.VMs[i].Host)
}

// Group returns the group of VMs that a rule couples with this one; VMs of a group have the same
// number. With strict false only soft rules count.
func (l *AllowedNodes) Group(vm cluster.VMID, strict bool) (group int, tied bool) {
	if group, tied = l.soft.group(l.numberOf(vm)); !tied && strict {
		group, tied = l.hard.group(l.numberOf(vm))
		group = -1 - group
	}
	return group, tied
}

// Fits reports whether a VM can move to a node, with all others where they are, without a new or
// a worse breach of a rule.
func (l *AllowedNodes) Fits(vm cluster.VMID, node cluster.NodeID) bool {
	i, n := l.numberOf(vm), l.indexOf(node)
	return n != repack.Nowhere && l.hard.accepts(i, n) && l.soft.accepts(i, n)
}

// couplings is a rule probe that also learns which VMs may not move independently.
type couplings struct {
	*ruleProbe
	kept    map[int]bool
	rooted  map[int]bool // those of them that may not migrate in any case
	groupOf map[int]int  // by VM; coupled VMs have the same group
	groups  int          // the number of groups ever made
	all     bool         // all VMs are coupled
	guards  map[int][]scopedGuard
}

// scopedGuard is a rule about the places of VMs.
type scopedGuard struct {
	repack.Guard
	nodes []int // nil: all
}

// allVMs is the key of guards that count all VMs.
const allVMs = -1

func newCouplings(in *repack.Instance) *couplings {
	return &couplings{ruleProbe: newRuleProbe(in), kept: map[int]bool{}, rooted: map[int]bool{}, groupOf: map[int]int{}, guards: map[int][]scopedGuard{}}
}

// group returns the number of the VMs that rules couple with a VM.
func (l *couplings) group(vm int) (group int, tied bool) {
	if l.all {
		return 0, true
	}
	group, tied = l.groupOf[vm]
	return group, tied
}

// accepts reports whether no guard counts more breaches when a VM moves to a node.
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

// Guard couples the VMs, and places all of them where they are.
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

// Watch couples the VMs.
func (l *couplings) Watch(_ repack.Watch, s repack.Scope) { l.couple(s.VMs, s.Nodes == nil) }

// Gate makes the VMs stay: it constrains the order in which they leave.
func (l *couplings) Gate(_ repack.Gate, vms []int) { l.keep(vms) }

// Together makes the VMs stay: they would have to move at the same time.
func (l *couplings) Together(vms []int, _ bool) { l.keep(vms) }

// Due makes the VM stay.
func (l *couplings) Due(vm int, _, _ repack.Ticks) { l.kept[vm] = true }

func (l *couplings) keep(vms []int) {
	for _, vm := range vms {
		l.kept[vm] = true
	}
}

// couple merges the groups of these VMs. Nil VMs are all, which counts only if the rule holds on
// all nodes.
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
