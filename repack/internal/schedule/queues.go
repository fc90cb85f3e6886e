package schedule

import (
	"cmp"
	"slices"

	"vjob/repack"
)

// queues are the units that wait for room on nodes.
type queues struct {
	agenda     *agenda
	at         [][]int // by node, sorted by key
	dirtyNodes []int   // nodes on which something has changed
	dirty      []bool  // by node
}

func newQueues(a *agenda) queues {
	nodes := len(a.In.Nodes)
	return queues{agenda: a, at: make([][]int, nodes), dirty: make([]bool, nodes)}
}

// fill queues all units, before the first instant.
func (q *queues) fill() {
	for u := range q.agenda.units {
		for _, i := range q.agenda.units[u].tasks {
			if t := &q.agenda.tasks[i]; t.comes() {
				q.at[t.to] = append(q.at[t.to], u)
			}
		}
	}
	for n := range q.at {
		q.sort(n)
	}
}

// contested reports whether the unit shares a queue with others.
func (q *queues) contested(u int) bool {
	for _, i := range q.agenda.units[u].tasks {
		if to := q.agenda.tasks[i].to; to != repack.Nowhere && len(q.at[to]) > 1 {
			return true
		}
	}
	return false
}

// add queues a unit on a node.
func (q *queues) add(u, n int) {
	q.at[n] = append(q.at[n], u)
	q.sort(n)
	q.markDirty(n)
}

func (q *queues) sort(n int) {
	if len(q.at[n]) > 1 {
		slices.SortStableFunc(q.at[n], func(a, b int) int { return cmp.Compare(q.agenda.units[a].key, q.agenda.units[b].key) })
	}
}

// markDirty schedules the queue of a node for another look.
func (q *queues) markDirty(n int) {
	if !q.dirty[n] && len(q.at[n]) > 0 {
		q.dirty[n], q.dirtyNodes = true, append(q.dirtyNodes, n)
	}
}

// markAllDirty schedules all queues for another look.
func (q *queues) markAllDirty() {
	for n := range q.at {
		q.markDirty(n)
	}
}

// startQueued tries the units on all dirty nodes, and removes those that begin.
func (q *queues) startQueued(try func(unit int)) {
	for len(q.dirtyNodes) > 0 {
		n := q.dirtyNodes[len(q.dirtyNodes)-1]
		q.dirtyNodes = q.dirtyNodes[:len(q.dirtyNodes)-1]
		q.dirty[n] = false
		queue := q.at[n][:0]
		for _, u := range q.at[n] {
			try(u)
			if q.agenda.units[u].waiting {
				queue = append(queue, u)
			}
		}
		q.at[n] = queue
	}
}
