package repack

import "cmp"

// TransferNodes returns the nodes on which an action copies memory, and so holds a transfer slot
// (a port of data migration; bin repacking paper, §6): both ends of a migration, the node that a suspend leaves, the
// node that a resume comes to. A remote resume holds none where its image lies. Unused entries
// are Nowhere.
func (k Kind) TransferNodes(from, to int) [2]int {
	switch k {
	case Migrate:
		return [2]int{from, to}
	case Suspend:
		return [2]int{from, Nowhere}
	case Resume:
		return [2]int{to, Nowhere}
	default:
		return [2]int{Nowhere, Nowhere}
	}
}

// LimitsTransfers reports whether some node has a limit of transfers.
func (in *Instance) LimitsTransfers() bool {
	for n := range in.Nodes {
		if in.Nodes[n].Transfers > 0 {
			return true
		}
	}
	return false
}

// transferring returns when an action holds its transfer slots: from its start to its end. What a
// gang does together starts together, and each action may wait for its slots after that: it holds
// them at last, for as long as it takes.
func (t *Timeline) transferring(action int) (from, to Ticks) {
	a := &t.Plan.Actions[action]
	if _, together := t.freed[action]; together {
		return max(a.Start, a.End-t.Instance.Lasts(a)), a.End
	}
	return a.Start, a.End
}

// slotChange is a slot that is taken on a node, or given back.
type slotChange struct {
	at Ticks
	by int
}

func (a slotChange) compare(b slotChange) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by))
}
