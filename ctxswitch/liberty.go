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
	hard, soft *leash
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
	l := &AllowedNodes{q, newLeash(&q.in), newLeash(&q.in)}
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
	i, known := l.number[vm]
	return !known || l.in.VMs[i].Stays || l.hard.rooted[i] || l.soft.rooted[i]
}

// Confined reports whether a hard rule keeps a VM that runs from leaving its node for any
// that takes VMs: it may not migrate, or may be on none of them.
func (l *AllowedNodes) Confined(vm cluster.VMID) bool {
	i, known := l.number[vm]
	if !known || l.hard.fixed[i] {
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
	i, n := l.number[vm], l.at(node)
	if n == repack.Nowhere || !l.nodes[n].Hosts() || !l.hard.permits(i, n) {
		return false
	}
	return l.soft.permits(i, n) || !l.soft.permits(i, l.in.VMs[i].Host)
}

// Tied tells whether a rule looks at a VM together with others, and at which: those with
// the same number. With strict false only soft rules count.
func (l *AllowedNodes) Tied(vm cluster.VMID, strict bool) (group int, tied bool) {
	if group, tied = l.soft.group(l.number[vm]); !tied && strict {
		group, tied = l.hard.group(l.number[vm])
		group = -1 - group
	}
	return group, tied
}

// Fits reports whether no rule is broken, or broken more, when a VM goes to a node and all
// others are where they are.
func (l *AllowedNodes) Fits(vm cluster.VMID, node cluster.NodeID) bool {
	i, n := l.number[vm], l.at(node)
	return n != repack.Nowhere && l.hard.bears(i, n) && l.soft.bears(i, n)
}

// leash is a board that learns besides which VMs are not free to go by themselves.
type leash struct {
	*witness
	rooted map[int]bool
	fixed  map[int]bool // those of them that may not migrate whatever others do
	of     map[int]int  // VMs that are looked at together have the same one
	groups int          // so many numbers were given
	all    bool         // all VMs are looked at together
	guards map[int][]guarded
}

// guarded is a rule that looks at who is where.
type guarded struct {
	repack.Guard
	nodes []int // nil: all
}

// anybody stands for all VMs.
const anybody = -1

func newLeash(in *repack.Instance) *leash {
	return &leash{witness: newWitness(in), rooted: map[int]bool{}, fixed: map[int]bool{}, of: map[int]int{}, guards: map[int][]guarded{}}
}

// group is the number of those that are looked at together with a VM.
func (l *leash) group(vm int) (group int, tied bool) {
	if l.all {
		return 0, true
	}
	group, tied = l.of[vm]
	return group, tied
}

// bears reports whether no guard counts more breaches when a VM goes to a node.
func (l *leash) bears(vm, node int) bool {
	from := l.in.VMs[vm].Host
	objects := func(g guarded) bool {
		concerns := g.nodes == nil || slices.Contains(g.nodes, node) || slices.Contains(g.nodes, from)
		return concerns && g.Delta(vm, from, node) > 0
	}
	return !slices.ContainsFunc(l.guards[vm], objects) && !slices.ContainsFunc(l.guards[anybody], objects)
}

// Root notes the VM.
func (l *leash) Root(vm int) { l.rooted[vm], l.fixed[vm] = true, true }

// Guard ties the VMs, and has everybody be where he is.
func (l *leash) Guard(g repack.Guard, s repack.Scope) {
	l.tie(s.VMs, s.Nodes == nil)
	come := func(vm int) {
		if v := &l.in.VMs[vm]; v.Keeps() {
			g.Move(vm, repack.Nowhere, v.Host)
		}
	}
	if s.VMs == nil {
		for vm := range l.in.VMs {
			come(vm)
		}
		l.guards[anybody] = append(l.guards[anybody], guarded{g, s.Nodes})
	}
	for _, vm := range s.VMs {
		come(vm)
		l.guards[vm] = append(l.guards[vm], guarded{g, s.Nodes})
	}
}

// Watch ties the VMs.
func (l *leash) Watch(_ repack.Watch, s repack.Scope) { l.tie(s.VMs, s.Nodes == nil) }

// Gate has the VMs stay: it is about the order in which they go.
func (l *leash) Gate(_ repack.Gate, vms []int) { l.keep(vms) }

// Together has the VMs stay: they would have to go at once.
func (l *leash) Together(vms []int, _ bool) { l.keep(vms) }

// Due has the VM stay.
func (l *leash) Due(vm int, _, _ repack.Ticks) { l.rooted[vm] = true }

func (l *leash) keep(vms []int) {
	for _, vm := range vms {
		l.rooted[vm] = true
	}
}

// tie has VMs be looked at together, and with them those with whom they already are.
func (l *leash) tie(vms []int, everywhere bool) {
	if vms == nil {
		l.all = l.all || everywhere
		return
	}
	group := l.groups
	l.groups++
	for _, vm := range vms {
		if old, tied := l.of[vm]; tied && old != group {
			for other, g := range l.of {
				if g == old {
					l.of[other] = group
				}
			}
		}
		l.of[vm] = group
	}
}
