package brute

import (
	"slices"

	"vjob/repack"
)

// together reports whether an action may start beside what its gang has done so far: all suspends of a
// gang start at one instant, and so do all resumes; moves while it is paused start together or follow
// each other.
func (s *search) together(x *state, a *repack.Action) bool {
	gang := slices.IndexFunc(s.in.Gangs, func(vms []int) bool { return slices.Contains(vms, a.VM) })
	if gang < 0 || a.Kind == repack.Migrate && !s.in.VMs[a.VM].Paused {
		return true
	}
	for ; x != nil; x = x.before {
		b := &x.action
		if !x.acts || b.Kind != a.Kind || !slices.Contains(s.in.Gangs[gang], b.VM) {
			continue
		}
		switch {
		case b.Start == a.Start:
		case a.Kind == repack.Suspend || a.Kind == repack.Resume:
			return false
		case a.Kind == repack.Migrate && b.End > a.Start:
			return false
		}
	}
	return true
}

// hasSlots reports whether the nodes on which an action copies carry no more transfers than they may.
func (s *search) hasSlots(x *state, a *repack.Action) bool {
	for _, n := range a.Kind.TransferNodes(a.From, a.To) {
		if n == repack.Nowhere || s.in.Nodes[n].Transfers == 0 {
			continue
		}
		taken := 0
		for _, until := range s.in.Nodes[n].Busy {
			if until > x.clock {
				taken++
			}
		}
		for y := x; y != nil; y = y.before {
			if on := y.action.Kind.TransferNodes(y.action.From, y.action.To); y.acts && y.action.End > x.clock && slices.Contains(on[:], n) {
				taken++
			}
		}
		if taken >= s.in.Nodes[n].Transfers {
			return false
		}
	}
	return true
}
