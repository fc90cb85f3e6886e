package ctxswitch

import (
	"slices"
	"time"

	"vjob/cluster"
)

// Transfers is how many transfers a node carries at once: a save counts on its node, a restore where it
// goes, a migration on both nodes. The dependencies of a plan do not include them, its times do: whatever
// carries a plan out counts transfers and starts them in the order of the plan.
type Transfers struct {
	Limit int // for each node; 0: no limit
	// Busy is how long each transfer takes that is under way or promised, from the start of the plan, by
	// node: at most Limit each, as the others come before the plan anyway.
	Busy map[cluster.NodeID][]time.Duration
}

// transferNodes returns the nodes on which an action counts as a transfer.
func transferNodes(kind cluster.ActionKind, from, to cluster.NodeID) []cluster.NodeID {
	switch kind {
	case cluster.Suspend:
		return []cluster.NodeID{from}
	case cluster.Resume:
		return []cluster.NodeID{to}
	case cluster.Migrate:
		return []cluster.NodeID{from, to}
	default:
		return nil
	}
}

// postTransfers gives the nodes of the instance their limits.
func (g *instanceBuilder) postTransfers(t *Transfers) {
	for i := range g.in.Nodes {
		if g.in.Nodes[i].Transfers != t.Limit {
			g.node(i).Transfers = t.Limit
		}
	}
	if t.Limit == 0 {
		return
	}
	for id := range t.Busy {
		i, known := g.nodeIndex(id)
		if busy := t.busy(id); known && len(busy) > 0 {
			n := g.node(i)
			for _, until := range busy {
				n.Busy = append(n.Busy, ticks(until))
			}
		}
	}
}

// busy returns how long slots of a node are taken at first: those that become free last, if there are
// more than slots.
func (t *Transfers) busy(node cluster.NodeID) []time.Duration {
	list := slices.DeleteFunc(slices.Clone(t.Busy[node]), func(until time.Duration) bool { return until <= 0 })
	slices.Sort(list)
	return list[max(0, len(list)-t.Limit):]
}

// slots are when the transfer slots of nodes are free for the next action.
type slots struct {
	*Transfers
	freeAt map[cluster.NodeID][]time.Duration
}

func (t *Transfers) slots() slots { return slots{t, map[cluster.NodeID][]time.Duration{}} }

// first returns the slot of a node that is free first.
func (s slots) first(node cluster.NodeID) *time.Duration {
	list, known := s.freeAt[node]
	if !known {
		list = make([]time.Duration, s.Limit)
		copy(list, s.busy(node))
		s.freeAt[node] = list
	}
	best := &list[0]
	for i := range list {
		if list[i] < *best {
			best = &list[i]
		}
	}
	return best
}

// free returns when slots for an action are free, at an instant or later.
func (s slots) free(kind cluster.ActionKind, from, to cluster.NodeID, at time.Duration) time.Duration {
	if s.Limit > 0 {
		for _, n := range transferNodes(kind, from, to) {
			at = max(at, *s.first(n))
		}
	}
	return at
}

// take reserves the slots of an action that may start at an instant, and returns when it has them.
func (s slots) take(kind cluster.ActionKind, from, to cluster.NodeID, at, takes time.Duration) time.Duration {
	at = s.free(kind, from, to, at)
	if s.Limit > 0 {
		for _, n := range transferNodes(kind, from, to) {
			*s.first(n) = at + takes
		}
	}
	return at
}
