package schedule

import (
	"vjob/repack"
	"vjob/repack/internal/problem"
)

// Monitors follow the continuous rules along a schedule.
type Monitors struct{ *problem.Problem }

// NewMonitors tells every watch where VMs are at an instant.
func NewMonitors(m *problem.Problem, where [][2]int) *Monitors {
	e := &Monitors{m}
	if len(m.Watches) == 0 {
		return e
	}
	for vm, at := range where {
		for _, n := range at {
			if n != repack.Nowhere {
				e.come(vm, n)
			}
		}
	}
	return e
}

// Close removes all VMs from the watches, so that the next schedule can begin.
func (e *Monitors) Close(where [][2]int) {
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
func (e *Monitors) each(vm, node int, visit func(w *problem.Watch)) {
	for _, list := range [...][]int{e.WatchesOfVM[vm], e.WatchesOfNode.At(node), e.GlobalWatches} {
		for _, i := range list {
			if w := &e.Watches[i]; w.Nodes == nil || w.Nodes.Has(node) {
				visit(w)
			}
		}
	}
}

// Admits reports whether the VM may come to the node now.
func (e *Monitors) Admits(vm, node int) bool {
	if e.BannedAlways[vm].Has(node) {
		return false
	}
	for _, list := range [...][]int{e.WatchesOfVM[vm], e.WatchesOfNode.At(node), e.GlobalWatches} {
		for _, i := range list {
			if w := &e.Watches[i]; (w.Nodes == nil || w.Nodes.Has(node)) && !w.Admits(vm, node) {
				return false
			}
		}
	}
	return true
}

func (e *Monitors) come(vm, node int) { e.each(vm, node, func(w *problem.Watch) { w.Come(vm, node) }) }

func (e *Monitors) left(vm, node int) { e.each(vm, node, func(w *problem.Watch) { w.Go(vm, node) }) }

// leave tells the watches about a departure, and reports what may have become possible: stir
// for nodes, wake for VMs.
func (e *Monitors) leave(vm, node int, stir, wake func(int)) {
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
