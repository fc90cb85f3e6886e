package solve

import (
	"slices"

	"vjob/repack"
)

// board posts the rules of an instance on a model.
type board struct {
	*model
	rule    repack.Rule
	penalty int64
}

// Instance is the instance that is searched.
func (b *board) Instance() *repack.Instance { return b.in }

// Forbid takes a node from the VM. Softly, it is a guard like any other.
func (b *board) Forbid(vm, node int, always bool) {
	if b.penalty > 0 {
		b.judged = b.judged || always
		b.Guard(&dislike{node}, repack.Scope{VMs: []int{vm}})
		return
	}
	b.final[vm] = b.sets.with(b.final[vm], node)
	if always {
		b.passing[vm] = b.sets.with(b.passing[vm], node)
	}
}

// Confine takes all other nodes from the VMs. Softly, being elsewhere is a breach.
func (b *board) Confine(vms, nodes []int, always bool) {
	only := newNodeSet(len(b.in.Nodes), append([]int{}, nodes...))
	if b.penalty > 0 {
		b.judged = b.judged || always
		b.Guard(&longing{only}, repack.Scope{VMs: vms})
		return
	}
	for _, vm := range vms {
		b.final[vm] = b.sets.outside(b.final[vm], only, len(b.in.Nodes))
		if always {
			b.passing[vm] = b.sets.outside(b.passing[vm], only, len(b.in.Nodes))
		}
	}
}

// longing is a soft fence.
type longing struct{ only *nodeSet }

func (l *longing) Delta(_, from, to int) (sum int) {
	if from != repack.Nowhere && !l.only.has(from) {
		sum--
	}
	if to != repack.Nowhere && !l.only.has(to) {
		sum++
	}
	return sum
}

func (l *longing) Move(int, int, int) {}

// Limit keeps the limit of a hard rule.
func (b *board) Limit(nodes []int, most int, always bool) {
	if b.penalty > 0 {
		b.judged = true
		return
	}
	b.limits = append(b.limits, limit{nodes, most, always, b.rule})
}

// dislike is a soft ban of one VM from one node.
type dislike struct{ node int }

func (d *dislike) Delta(_, from, to int) (sum int) {
	if from == d.node {
		sum--
	}
	if to == d.node {
		sum++
	}
	return sum
}

func (d *dislike) Move(int, int, int) {}

// Root keeps the VM from migrating. Softly, leaving home costs the penalty.
func (b *board) Root(vm int) {
	if b.penalty > 0 {
		if b.in.VMs[vm].Keeps() {
			b.far[vm] += b.penalty
			b.grudge[vm] += b.penalty
		}
		return
	}
	b.rooted[vm] = true
}

// Guard sorts the guard by what it concerns.
func (b *board) Guard(g repack.Guard, s repack.Scope) {
	number := len(b.guards)
	b.guards = append(b.guards, posted{g, b.penalty, newNodeSet(len(b.in.Nodes), s.Nodes), b.rule})
	file(number, s, b.ofVM, b.ofNode, &b.ofAll)
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
func (b *board) Watch(w repack.Watch, s repack.Scope) {
	if b.penalty > 0 {
		b.judged = true
		return
	}
	file(len(b.watches), s, b.seenVM, b.seenNode, &b.seenAll)
	b.watches = append(b.watches, watch{w, newNodeSet(len(b.in.Nodes), s.Nodes), s, b.rule})
}

// Gate keeps the gate of a hard rule.
func (b *board) Gate(g repack.Gate, vms []int) {
	if b.penalty > 0 {
		b.judged = true
		return
	}
	for _, vm := range vms {
		b.gatesOf[vm] = append(b.gatesOf[vm], len(b.gates))
	}
	b.gates = append(b.gates, gate{g, vms})
}

// Together keeps the set.
func (b *board) Together(vms []int, atEnd bool) {
	if b.penalty > 0 {
		b.judged = true
		return
	}
	b.together = append(b.together, togetherSet{slices.Clone(vms), atEnd})
	for _, vm := range vms {
		b.paired[vm] = true
	}
}

// Due keeps the earliest of the times given for a VM.
func (b *board) Due(vm int, start, end repack.Ticks) {
	if b.penalty > 0 {
		b.judged = true
		return
	}
	d, ok := b.due[vm]
	if !ok {
		d = dueTimes{repack.Forever, repack.Forever}
	}
	b.due[vm] = dueTimes{min(d.start, start), min(d.end, end)}
}
