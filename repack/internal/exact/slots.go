package exact

import (
	"vjob/repack"
)

// copies returns the nodes on which a VM holds transfer slots now.
func (e *search) copies(x *state, vm int) [2]int {
	w := &x.vms[vm]
	none := [2]int{repack.Nowhere, repack.Nowhere}
	switch {
	case w.until <= x.clock:
		return none
	case w.state == repack.Sleeping:
		return repack.Suspend.TransferNodes(int(w.from), repack.Nowhere)
	case w.state != repack.Running:
		return none
	case w.from != repack.Nowhere:
		return repack.Migrate.TransferNodes(int(w.from), int(w.at))
	case e.In.VMs[vm].State == repack.Ready: // it boots
		return none
	default:
		return repack.Resume.TransferNodes(repack.Nowhere, int(w.at))
	}
}

// hasSlots reports whether all nodes on which an action copies have a transfer slot for it.
func (e *search) hasSlots(x *state, a *repack.Action) bool {
	if !e.slots {
		return true
	}
	for _, n := range a.Kind.TransferNodes(a.From, a.To) {
		if n != repack.Nowhere && e.In.Nodes[n].Transfers > 0 && e.slotsTaken(x, n) >= e.In.Nodes[n].Transfers {
			return false
		}
	}
	return true
}

// slotsTaken counts the transfers on a node.
func (e *search) slotsTaken(x *state, n int) (count int) {
	for _, until := range e.In.Nodes[n].Busy {
		count += b(until > x.clock)
	}
	for vm := range x.vms {
		at := e.copies(x, vm)
		count += b(at[0] == n || at[1] == n)
	}
	return count
}
