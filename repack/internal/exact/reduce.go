package exact

import (
	"slices"

	"vjob/repack"
)

// Of all plans of the least cost, one with the least sum of starts is enough. In such a plan no action
// could start earlier: it starts first of all, when its VM has ended something else, when a VM has left
// the node to which it goes, or when that node has come on. Otherwise it would have had room just before,
// and to start it then costs no more. This holds for VMs of which no gate, watch or time of a rule knows.
// What starts in one instant may start in any order, so one order is enough.
//
// Dominance remains right: if a state dominates another one through which such a plan leads, the plan
// that follows the first instead costs as much and has the same sum of starts, so it is such a plan, too.

// news is what has ended at the instant of a state.
type news struct {
	vms   uint16 // VMs without actions that go on
	nodes uint8  // nodes that VMs have left, or that have come on
}

// everything is new at the first instant.
var everything = news{^uint16(0), ^uint8(0)}

// note adds a VM and a node, or Nowhere.
func (n *news) note(vm, node int) {
	if vm != repack.Nowhere {
		n.vms |= 1 << vm
	}
	if node != repack.Nowhere {
		n.nodes |= 1 << node
	}
}

// about reports whether something is new for a VM, or on a node.
func (n news) about(vm, node int) bool {
	return n.vms>>vm&1 == 1 || node != repack.Nowhere && n.nodes>>node&1 == 1
}

// reduce finds out which actions need not be tried at every instant.
func (e *search) reduce() {
	e.reduced = make([]bool, len(e.In.VMs))
	if e.switches || slices.ContainsFunc(e.In.VMs, instant) {
		return
	}
	e.ordered = !e.gates && len(e.Watches) == 0
	for vm := range e.reduced {
		e.reduced[vm] = !e.Synced[vm] && len(e.GatesOf[vm])+len(e.WatchesOfVM[vm])+len(e.GlobalWatches) == 0
	}
}

// anyPlan has the search look for any plan. If no rule looks at the time of day, what happens at the same
// time can also happen in sequence in order of the ends, which takes no more room; except what must
// happen together.
func (e *search) anyPlan() {
	e.any = true
	e.timeless = len(e.Gates)+len(e.Deadlines) == 0 && !e.awaits(0)
	clear(e.reduced)
}

// instant reports whether some action of a VM takes no time.
func instant(v repack.VM) bool {
	return min(v.Takes.Boot, v.Takes.Shutdown, v.Takes.Suspend, v.Takes.ResumeLocal, v.Takes.ResumeRemote, v.Takes.Migrate) == 0
}

// rank orders what starts in one instant: those that stay and need less first.
func (e *search) rank(a *repack.Action) int8 {
	switch {
	case !e.ordered:
		return -1
	case a.Kind == repack.Allocate:
		return int8(a.VM)
	default:
		return int8(maxVMs + a.VM)
	}
}

// timely reports whether an action must be tried now.
func (e *search) timely(x *state, a *repack.Action) bool {
	switch {
	case e.ordered && e.rank(a) <= x.rank, e.timeless && !e.Synced[a.VM] && x.busy():
		return false
	case !e.free(a):
		return true
	case a.Kind == repack.Allocate:
		return x.clock == 0
	default:
		return x.news.about(a.VM, a.To) || e.slots && x.news.about(a.VM, a.From)
	}
}

// busy reports whether something is under way.
func (x *state) busy() bool {
	return slices.ContainsFunc(x.vms, func(w vmState) bool { return w.until > x.clock })
}

// free reports whether no rule looks at the time of an action.
func (e *search) free(a *repack.Action) bool {
	watched := func(n int) bool { return n != repack.Nowhere && len(e.WatchesOfNode.At(n)) > 0 }
	return e.reduced[a.VM] && !watched(a.From) && !watched(a.To) && !e.counts(a)
}

// counts reports whether soft rules on whole plans look at an action.
func (e *search) counts(a *repack.Action) bool {
	if !e.Uncounted || e.any {
		return false
	}
	of := func(n int) bool { return n != repack.Nowhere && e.UncountedNodes[n] }
	return a.VM == repack.Nowhere || e.UncountedVMs[a.VM] || of(a.From) || of(a.To)
}

// idles reports whether a VM that must only leave has not begun to, though nothing keeps it.
func (e *search) idles(x *state) bool {
	if x.clock > 0 {
		return false // noticed at the first instant
	}
	for vm := range x.vms {
		v, w := &e.In.VMs[vm], &x.vms[vm]
		if v.Want == repack.Running || w.state != repack.Running || e.slots && v.Want == repack.Sleeping {
			continue
		}
		if e.free(&repack.Action{VM: vm, From: int(w.at), To: repack.Nowhere}) {
			return true
		}
	}
	return false
}
