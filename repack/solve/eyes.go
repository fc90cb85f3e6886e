package solve

import "vjob/repack"

// eyes follow the continuous rules along a schedule.
type eyes struct{ *model }

// watchful has every watch see what is where before the first instant.
func watchful(m *model, where [][2]int) *eyes {
	e := &eyes{m}
	if len(m.watches) == 0 {
		return e
	}
	for vm, at := range where {
		if at[0] != repack.Nowhere {
			e.come(vm, at[0])
		}
	}
	return e
}

// close takes everybody away again, so that the next schedule can begin.
func (e *eyes) close(where [][2]int) {
	if len(e.watches) == 0 {
		return
	}
	for vm, at := range where {
		for _, n := range at {
			if n != repack.Nowhere {
				e.gone(vm, n)
			}
		}
	}
}

// each visits the watches that a VM on a node concerns.
func (e *eyes) each(vm, node int, visit func(w *watch)) {
	for _, list := range [...][]int{e.seenVM[vm], e.seenNode[node], e.seenAll} {
		for _, i := range list {
			if w := &e.watches[i]; w.nodes == nil || w.nodes.has(node) {
				visit(w)
			}
		}
	}
}

// admits reports whether the VM may come to the node as things stand.
func (e *eyes) admits(vm, node int) bool {
	if e.passing[vm].has(node) {
		return false
	}
	for _, list := range [...][]int{e.seenVM[vm], e.seenNode[node], e.seenAll} {
		for _, i := range list {
			if w := &e.watches[i]; (w.nodes == nil || w.nodes.has(node)) && !w.Admits(vm, node) {
				return false
			}
		}
	}
	return true
}

func (e *eyes) come(vm, node int) { e.each(vm, node, func(w *watch) { w.Come(vm, node) }) }

func (e *eyes) gone(vm, node int) { e.each(vm, node, func(w *watch) { w.Go(vm, node) }) }

// leave tells the watches, and of whom something may be possible now that was not
// before: stir of nodes, wake of VMs.
func (e *eyes) leave(vm, node int, stir, wake func(int)) {
	e.each(vm, node, func(w *watch) {
		w.Go(vm, node)
		switch {
		case w.scope.VMs != nil:
			for _, other := range w.scope.VMs {
				wake(other)
			}
		case w.scope.Nodes != nil:
			for _, n := range w.scope.Nodes {
				stir(n)
			}
		default:
			for n := range e.in.Nodes {
				stir(n)
			}
		}
	})
}
