package ctxswitch

import (
	"fmt"
	"slices"

	"vjob/cluster"
)

// pausedNow reports whether a VM is paused in memory on a node.
func (s *survey) pausedNow(vm cluster.VMID) bool {
	state, _ := s.Current.State(vm)
	return state == cluster.VMPaused
}

// onNode reports whether a VM is on a node.
func (s *survey) onNode(vm cluster.VMID) bool { return s.runs(vm) || s.pausedNow(vm) }

// endsPaused reports whether a VM is to be paused where it is, or is paused and stays so: it
// counts with its memory and no CPU.
func (s *survey) endsPaused(vm cluster.VMID) bool {
	return s.pauses(vm) || s.pausedNow(vm) && !s.unpauses(vm)
}

// pauses reports whether a running VM is to be paused.
func (s *survey) pauses(vm cluster.VMID) bool {
	return s.runs(vm) && !s.Pinned[vm] && s.want(vm) == cluster.VMPaused
}

// unpauses reports whether a paused VM is to run.
func (s *survey) unpauses(vm cluster.VMID) bool {
	return s.pausedNow(vm) && !s.Pinned[vm] && s.want(vm) == cluster.VMRunning
}

// inPlace reports whether a VM cannot leave its node because it is paused there, is to be, or
// continues there: only saved or ended VMs leave.
func (s *survey) inPlace(vm cluster.VMID) bool {
	leaves := !s.Pinned[vm] && (s.want(vm) == cluster.VMSleeping || s.want(vm) == cluster.VMTerminated)
	return s.pauses(vm) || s.pausedNow(vm) && !leaves
}

// whyNotAsWhole returns why a vjob that is paused, or is to be, cannot reach its goal; "" if it
// can. Gangs pause and continue as wholes. busy: a member on a node is pinned.
func (s *survey) whyNotAsWhole(g Goal, busy bool) string {
	switch {
	case busy:
		return "it cannot change as a whole: actions are under way on some of its VMs"
	case s.mixed(g.VJob):
		return "it cannot change as a whole: some of its VMs stand still and others do not"
	}
	for _, vm := range s.members[g.VJob] {
		if !s.onNode(vm) {
			continue
		}
		place := s.Current.Place(vm)
		switch node, known := s.Current.Node(place); {
		case !known || node.State == cluster.Down:
			return fmt.Sprintf("VM %s is on node %s, which is down: what became of it has to be settled first", vm, place)
		case g.Want == cluster.VMRunning && !node.Hosts():
			return fmt.Sprintf("VM %s stands still on node %s, which is %s: it is to be saved before it goes on", vm, place, node.State)
		}
	}
	return ""
}

// mixed reports whether the members of a vjob that have not ended are in several states.
func (s *survey) mixed(id cluster.VJobID) bool {
	first, met := cluster.VMState(0), false
	for _, vm := range s.members[id] {
		state, _ := s.Current.State(vm)
		switch {
		case state == cluster.VMTerminated:
		case met && state != first:
			return true
		default:
			first, met = state, true
		}
	}
	return false
}

// checkUnpauses checks, in order of priority, that the vjobs that are to continue where they are
// paused have their CPU there beside all VMs that stay where they are.
func (s *survey) checkUnpauses() error {
	if !slices.ContainsFunc(s.paused, s.unpauses) {
		return nil
	}
	free := map[cluster.NodeID]cluster.MilliCPU{}
	for _, n := range s.Current.Nodes() {
		free[n.ID] = n.Capacity.Minus(s.Claims[n.ID]).CPU
	}
	for _, vm := range s.Current.VMs() {
		if s.fixed.has(vm) && !s.unpauses(vm) {
			free[s.Current.Place(vm)] -= s.count(vm).CPU
		}
	}
	for _, g := range s.Gangs {
		for _, vm := range s.members[g.VJob] {
			if !s.unpauses(vm) {
				continue
			}
			at, cpu := s.Current.Place(vm), s.count(vm).CPU
			free[at] -= cpu
			if cpu > 0 && free[at] < 0 {
				return refused(g, "VM %s stands still on node %s, which lacks %s CPU for it to go on", vm, at, -free[at])
			}
		}
	}
	return nil
}
