package exact

import (
	"slices"

	"vjob/repack"
)

// switchNodes queues the states after one more node is switched.
func (e *search) switchNodes(x *state) {
	for n := range x.nodes {
		node := &e.In.Nodes[n]
		switch {
		case node.State == repack.Online && node.Want != repack.Online && x.nodes[n].on && e.deserted(x, n):
			e.add(e.switched(x, n, repack.NodeOff, e.In.NodeOff))
		case node.State == repack.Offline && node.Want != repack.Offline && !x.nodes[n].on && e.mayComeOn(x, n):
			e.add(e.switched(x, n, repack.NodeOn, e.In.NodeOn))
		}
	}
}

func (e *search) switched(x *state, n int, kind repack.Kind, takes repack.Ticks) *state {
	y := e.follow(x, nodeAction(kind, n, x.clock, takes))
	y.nodes = slices.Clone(x.nodes)
	y.nodes[n] = nodeState{kind == repack.NodeOn, x.clock + takes}
	return e.valued(y)
}

// deserted reports whether nothing is on a node, and nothing is or will be resumed from there.
func (e *search) deserted(x *state, n int) bool {
	if e.KeepsImage[n] {
		return false
	}
	for vm := range x.vms {
		w := &x.vms[vm]
		switch {
		case int(w.from) == n, int(w.at) == n && (w.state == repack.Running || e.In.VMs[vm].Want == repack.Running):
			return false
		case w.until > x.clock && lastKind(x, vm) == repack.Resume && lastFrom(x, vm) == n:
			return false
		}
	}
	return true
}

// lastFrom is the node from which the last action of a VM began.
func lastFrom(x *state, vm int) int {
	for !x.does || x.action.VM != vm {
		x = x.before
	}
	return x.action.From
}

// mayComeOn reports whether the limits of nodes that are on at every instant allow one more.
func (e *search) mayComeOn(x *state, n int) bool {
	for _, l := range e.Limits {
		if l.Always && slices.Contains(l.Nodes, n) && e.online(x, l.Nodes) >= l.Most {
			return false
		}
	}
	return true
}

// online counts the nodes that are on, coming on, or going off.
func (e *search) online(x *state, nodes []int) (count int) {
	for _, n := range nodes {
		if x.nodes[n].on || x.nodes[n].until > x.clock {
			count++
		}
	}
	return count
}

// powered reports whether the nodes end as they shall.
func (e *search) powered(x *state) bool {
	if !e.switches {
		return true
	}
	for n := range x.nodes {
		if want := e.In.Nodes[n].Want; want != repack.AnyState && x.nodes[n].on != (want == repack.Online) {
			return false
		}
	}
	for _, l := range e.Limits {
		count := 0
		for _, n := range l.Nodes {
			count += b(x.nodes[n].on)
		}
		if count > l.Most {
			return false
		}
	}
	return true
}
