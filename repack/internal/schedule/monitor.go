package schedule

import (
	"vjob/repack"
	"vjob/repack/internal/problem"
)

// monitors follow the continuous rules along a schedule.
type monitors struct{ *problem.Problem }

// newMonitors tells every watch where VMs are before the first instant.
func newMonitors(m *problem.Problem, where [][2]int) *monitors {
	e := &monitors{m}
	if len(m.Watches) == 0 {
		return e
	}
	for vm, at := range where {
		if at[0] != repack.Nowhere {
			e.come(vm, at[0])
		}
	}
	return e
}

// close removes all VMs from the watches, so that the next schedule can begin.
func (e *monitors) close(where [][2]int) {
	if len(e.Watches) == 0 {
		return
	}
	for vm, at := range where {
		for _, n := range at {
			if n != repack.Nowhere {
				e.left(vm, n)
			}
		}
	}
}

// each visits the watches that a VM on a node concerns.
func (e *monitors) each(vm, node int, visit func(w *problem.Watch)) {
	for _, list := range [...][]int{e.WatchesOfVM[vm], e.WatchesOfNode[node], e.GlobalWatches} {
		for _, i := range list {
			if w := &e.Watches[i]; w.Nodes == nil || w.Nodes.Has(node) {
				visit(w)
			}
		}
	}
}

// admits reports whether the VM may come to the node now.
func (e *monitors) admits(vm, node int) bool {
	if e.BannedAlways[vm].Has(node) {
		return false
	}
	for _, list := range [...][]int{e.WatchesOfVM[vm], e.WatchesOfNode[node], e.GlobalWatches} {
		for _, i := range list {
			if w := &e.Watches[i]; (w.Nodes == nil || w.Nodes.Has(node)) && !w.Admits(vm, node) {
				return false
			}
		}
	}
	return true
}

func (e *monitors) come(vm, node int) { e.each(vm, node, func(w *problem.Watch) { w.Come(vm, node) }) }

func (e *monitors) left(vm, node int) { e.each(vm, node, func(w *problem.Watch) { w.Go(vm, node) }) }

// leave tells the watches about a departure, and reports what may have become possible: stir
// for nodes, wake for VMs.
func (e *monitors) leave(vm, node int, stir, wake func(int)) {
	e.each(vm, node, func(w *problem.Watch) {
		w.Go(vm, node)
		switch {
		case w.Scope.VMs != nil:
			for _, other := range w.Scope.VMs {
				wake(other)
			}
		case w.Scope.Nodes != nil:
			for _, n := range w.Scope.Nodes {
				stir(n)
			}
		default:
			for n := range e.In.Nodes {
				stir(n)
			}
		}
	})
}
