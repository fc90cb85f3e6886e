package cluster

import (
	"slices"
	"strings"
)

// nodeTable is the nodes of configurations, in order of names. One that is shared does not change.
type nodeTable struct {
	nodes  []Node
	index  map[NodeID]int // of the nodes; it never changes
	shared bool
}

// newNodeTable returns a table of nodes. Of nodes with the same name the last one is in it.
func newNodeTable(nodes []Node) *nodeTable {
	t := &nodeTable{nodes: slices.Clone(nodes), index: make(map[NodeID]int, len(nodes))}
	byName := func(a, b Node) int { return strings.Compare(string(a.ID), string(b.ID)) }
	if !slices.IsSortedFunc(t.nodes, byName) {
		slices.SortStableFunc(t.nodes, byName)
	}
	kept := t.nodes[:0]
	for _, n := range t.nodes {
		if last := len(kept) - 1; last >= 0 && kept[last].ID == n.ID {
			kept[last] = n
			continue
		}
		t.index[n.ID] = len(kept)
		kept = append(kept, n)
	}
	t.nodes = kept
	return t
}

// share returns the table, which does not change from now on: it can then be read at the same time.
func (t *nodeTable) share() *nodeTable {
	if !t.shared {
		t.shared = true
	}
	return t
}

// list returns the nodes, which do not change from now on.
func (t *nodeTable) list() []Node { return t.share().nodes }

// with returns a table with one more node, or another one of this name, and its place. That may be the table itself, changed.
func (t *nodeTable) with(n Node) (changed *nodeTable, at int, added bool) {
	at, known := t.index[n.ID]
	switch {
	case !known:
		changed = newNodeTable(append(slices.Clip(t.nodes), n))
		return changed, changed.index[n.ID], true
	case t.shared:
		t = &nodeTable{nodes: slices.Clone(t.nodes), index: t.index}
	}
	t.nodes[at] = n
	return t, at, false
}
