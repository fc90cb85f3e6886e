package problem

import (
	"slices"

	"vjob/internal/sparse"
	"vjob/repack"
)

// poster posts the rules of an instance on a problem.
type poster struct {
	*Problem
	rule    repack.Rule
	penalty int64
}

// Instance returns the amended instance.
func (b *poster) Instance() *repack.Instance { return b.In }

// Forbid bans a VM from a node. A soft ban becomes a guard.
func (b *poster) Forbid(vm, node int, always bool) {
	if b.penalty > 0 {
		if always {
			b.uncounted(repack.Scope{VMs: []int{vm}})
		}
		b.Guard(&softBan{node}, repack.Scope{VMs: []int{vm}})
		return
	}
	b.Banned[vm] = b.sets.with(b.Banned[vm], node)
	if always {
		b.BannedAlways[vm] = b.sets.with(b.BannedAlways[vm], node)
	}
}

// Confine restricts VMs to some nodes. A soft restriction becomes a guard.
func (b *poster) Confine(vms, nodes []int, always bool) {
	only := NewNodeSet(len(b.In.Nodes), append([]int{}, nodes...))
	if b.penalty > 0 {
		if always {
			b.uncounted(repack.Scope{VMs: vms})
		}
		b.Guard(&softFence{only}, repack.Scope{VMs: vms})
		return
	}
	for _, vm := range vms {
		b.Banned[vm] = b.sets.outside(b.Banned[vm], only, len(b.In.Nodes))
		if always {
			b.BannedAlways[vm] = b.sets.outside(b.BannedAlways[vm], only, len(b.In.Nodes))
		}
	}
}

// softFence counts VMs outside some nodes.
type softFence struct{ only *NodeSet }

func (l *softFence) Delta(_, from, to int) (sum int) {
	if from != repack.Nowhere && !l.only.Has(from) {
		sum--
	}
	if to != repack.Nowhere && !l.only.Has(to) {
		sum++
	}
	return sum
}

func (l *softFence) Move(int, int, int) {}

// Limit records the limit of a hard rule.
func (b *poster) Limit(nodes []int, most int, always bool) {
	if b.penalty > 0 {
		b.uncounted(repack.Scope{Nodes: nodes})
		return
	}
	b.Limits = append(b.Limits, OnlineLimit{nodes, most, always, b.rule})
}

// softBan counts whether one VM is on one node.
type softBan struct{ node int }

func (d *softBan) Delta(_, from, to int) (sum int) {
	if from == d.node {
		sum--
	}
	if to == d.node {
		sum++
	}
	return sum
}

func (d *softBan) Move(int, int, int) {}

// Root forbids the VM to migrate. Softly, leaving its home costs the penalty.
func (b *poster) Root(vm int) {
	if b.penalty > 0 {
		if b.In.VMs[vm].Keeps() {
			b.AwayCost[vm] += b.penalty
			b.MigrationPenalty[vm] += b.penalty
		}
		return
	}
	b.Rooted[vm] = true
}

// uncounted records that a soft rule is not counted by guards: it looks at the moves in a scope.
func (b *poster) uncounted(s repack.Scope) {
	b.Uncounted = true
	all := s.VMs == nil && s.Nodes == nil
	for vm := range b.UncountedVMs {
		b.UncountedVMs[vm] = b.UncountedVMs[vm] || all
	}
	for _, vm := range s.VMs {
		b.UncountedVMs[vm] = true
	}
	for _, n := range s.Nodes {
		b.UncountedNodes[n] = true
	}
}

// amendsNothing records a soft rule that would amend the instance. Any move may matter to it, unless all
// plans have the same breaches but for the nodes that come on if they are used.
func (b *poster) amendsNothing() {
	if _, inevitable := b.rule.(Inevitable); !inevitable {
		b.uncounted(repack.Scope{})
		return
	}
	nodes := []int{}
	for n := range b.In.Nodes {
		if node := &b.In.Nodes[n]; node.Want == repack.AnyState && node.State == repack.Offline {
			nodes = append(nodes, n)
		}
	}
	b.uncounted(repack.Scope{Nodes: nodes})
}

// Guard records a guard by the VMs or nodes that it concerns.
func (b *poster) Guard(g repack.Guard, s repack.Scope) {
	number := len(b.Guards)
	b.Guards = append(b.Guards, PostedGuard{g, b.penalty, NewNodeSet(len(b.In.Nodes), s.Nodes), b.rule})
	file(number, s, b.GuardsOfVM, b.GuardsOfNode, &b.GlobalGuards)
}

// file adds a number to the lists of the VMs or nodes in a scope.
func file(number int, s repack.Scope, byVM [][]int, byNode sparse.Lists[int], all *[]int) {
	switch {
	case s.VMs != nil:
		for _, vm := range s.VMs {
			byVM[vm] = append(byVM[vm], number)
		}
	case s.Nodes != nil:
		for _, n := range s.Nodes {
			byNode.Add(n, number)
		}
	default:
		*all = append(*all, number)
	}
}

// Watch records the watch of a hard rule. A soft rule is checked on whole plans.
func (b *poster) Watch(w repack.Watch, s repack.Scope) {
	if b.penalty > 0 {
		b.uncounted(s)
		return
	}
	file(len(b.Watches), s, b.WatchesOfVM, b.WatchesOfNode, &b.GlobalWatches)
	b.Watches = append(b.Watches, Watch{w, NewNodeSet(len(b.In.Nodes), s.Nodes), s, b.rule})
}

// Gate records the gate of a hard rule.
func (b *poster) Gate(g repack.Gate, vms []int) {
	if b.penalty > 0 {
		b.uncounted(repack.Scope{VMs: vms})
		return
	}
	for _, vm := range vms {
		b.GatesOf[vm] = append(b.GatesOf[vm], len(b.Gates))
	}
	b.Gates = append(b.Gates, gate{g, vms})
}

// Together records a set of VMs that migrate together.
func (b *poster) Together(vms []int, atEnd bool) {
	if b.penalty > 0 {
		b.uncounted(repack.Scope{VMs: vms})
		return
	}
	b.SyncSets = append(b.SyncSets, togetherSet{slices.Clone(vms), atEnd})
	for _, vm := range vms {
		b.Synced[vm] = true
	}
}

// Due records the earliest deadlines given for a VM.
func (b *poster) Due(vm int, start, end repack.Ticks) {
	if b.penalty > 0 {
		b.uncounted(repack.Scope{VMs: []int{vm}})
		return
	}
	d, ok := b.Deadlines[vm]
	if !ok {
		d = dueTimes{repack.Forever, repack.Forever}
	}
	b.Deadlines[vm] = dueTimes{min(d.Start, start), min(d.End, end)}
}
