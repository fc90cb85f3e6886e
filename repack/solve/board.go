package solve

import (
	"slices"

	"vjob/repack"
)

// poster posts the rules of an instance on a model.
type poster struct {
	*Problem
	rule    repack.Rule
	penalty int64
}

// Instance is the instance that is searched.
func (b *poster) Instance() *repack.Instance { return b.in }

// Forbid takes a node from the VM. Softly, it is a guard like any other.
func (b *poster) Forbid(vm, node int, always bool) {
	if b.penalty > 0 {
		b.uncounted = b.uncounted || always
		b.Guard(&softBan{node}, repack.Scope{VMs: []int{vm}})
		return
	}
	b.banned[vm] = b.sets.with(b.banned[vm], node)
	if always {
		b.bannedAlways[vm] = b.sets.with(b.bannedAlways[vm], node)
	}
}

// Confine takes all other nodes from the VMs. Softly, being elsewhere is a breach.
func (b *poster) Confine(vms, nodes []int, always bool) {
	only := newNodeSet(len(b.in.Nodes), append([]int{}, nodes...))
	if b.penalty > 0 {
		b.uncounted = b.uncounted || always
		b.Guard(&softFence{only}, repack.Scope{VMs: vms})
		return
	}
	for _, vm := range vms {
		b.banned[vm] = b.sets.outside(b.banned[vm], only, len(b.in.Nodes))
		if always {
			b.bannedAlways[vm] = b.sets.outside(b.bannedAlways[vm], only, len(b.in.Nodes))
		}
	}
}

// softFence is a soft fence.
type softFence struct{ only *nodeSet }

func (l *softFence) Delta(_, from, to int) (sum int) {
	if from != repack.Nowhere && !l.only.has(from) {
		sum--
	}
	if to != repack.Nowhere && !l.only.has(to) {
		sum++
	}
	return sum
}

func (l *softFence) Move(int, int, int) {}

// Limit keeps the limit of a hard rule.
func (b *poster) Limit(nodes []int, most int, always bool) {
	if b.penalty > 0 {
		b.uncounted = true
		return
	}
	b.limits = append(b.limits, limit{nodes, most, always, b.rule})
}

// softBan is a soft ban of one VM from one node.
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

// Root keeps the VM from migrating. Softly, leaving home costs the penalty.
func (b *poster) Root(vm int) {
	if b.penalty > 0 {
		if b.in.VMs[vm].Keeps() {
			b.awayCost[vm] += b.penalty
			b.migrationPenalty[vm] += b.penalty
		}
		return
	}
	b.rooted[vm] = true
}

// Guard sorts the guard by what it concerns.
func (b *poster) Guard(g repack.Guard, s repack.Scope) {
	number := len(b.guards)
	b.guards = append(b.guards, postedGuard{g, b.penalty, newNodeSet(len(b.in.Nodes), s.Nodes), b.rule})
	file(number, s, b.guardsOfVM, b.guardsOfNode, &b.globalGuards)
}

// file puts a number where moves that it concerns will find it.
func file(number int, s repack.Scope, byVM, byNode [][]int, all *[]int) {
	switch {
	case s.VMs != nil:
		for _, vm := range s.VMs {
			byVM[vm] = append(byVM[vm], number)
		}
	case s.Nodes != nil:
		for _, n := range s.Nodes {
			byNode[n] = append(byNode[n], number)
		}
	default:
		*all = append(*all, number)
	}
}

// Watch keeps the watch of a hard rule. Of a soft one whole plans are judged.
func (b *poster) Watch(w repack.Watch, s repack.Scope) {
	if b.penalty > 0 {
		b.uncounted = true
		return
	}
	file(len(b.watches), s, b.watchesOfVM, b.watchesOfNode, &b.globalWatches)
	b.watches = append(b.watches, watch{w, newNodeSet(len(b.in.Nodes), s.Nodes), s, b.rule})
}

// Gate keeps the gate of a hard rule.
func (b *poster) Gate(g repack.Gate, vms []int) {
	if b.penalty > 0 {
		b.uncounted = true
		return
	}
	for _, vm := range vms {
		b.gatesOf[vm] = append(b.gatesOf[vm], len(b.gates))
	}
	b.gates = append(b.gates, gate{g, vms})
}

// Together keeps the set.
func (b *poster) Together(vms []int, atEnd bool) {
	if b.penalty > 0 {
		b.uncounted = true
		return
	}
	b.syncSets = append(b.syncSets, togetherSet{slices.Clone(vms), atEnd})
	for _, vm := range vms {
		b.synced[vm] = true
	}
}

// Due keeps the earliest of the times given for a VM.
func (b *poster) Due(vm int, start, end repack.Ticks) {
	if b.penalty > 0 {
		b.uncounted = true
		return
	}
	d, ok := b.deadlines[vm]
	if !ok {
		d = dueTimes{repack.Forever, repack.Forever}
	}
	b.deadlines[vm] = dueTimes{min(d.start, start), min(d.end, end)}
}
