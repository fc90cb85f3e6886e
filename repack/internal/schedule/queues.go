package schedule

import (
	"cmp"
	"slices"

	"vjob/internal/sparse"
	"vjob/repack"
)

// queues are the units that wait for room on nodes.
type queues struct {
	agenda     *agenda
	at         sparse.Lists[int] // by node, sorted by key
	dirtyNodes []int             // nodes on which something has changed
	dirty      []bool            // by node
}

func newQueues(a *agenda) queues {
	nodes := len(a.In.Nodes)
	return queues{agenda: a, at: sparse.New[int](nodes), dirty: make([]bool, nodes)}
}

// fill queues all units, before the first instant.
func (q *queues) fill() {
	for u := range q.agenda.units {
		for _, i := range q.agenda.units[u].tasks {
			if t := &q.agenda.tasks[i]; t.comes() {
				q.at.Add(t.to, u)
			}
		}
	}
	for n := range q.at.All() {
		q.sort(n)
	}
}

// contested reports whether the unit shares a queue with others.
func (q *queues) contested(u int) bool {
	for _, i := range q.agenda.units[u].tasks {
		if to := q.agenda.tasks[i].to; to != repack.Nowhere && len(q.at.At(to)) > 1 {
			return true
		}
	}
	return false
}

// add queues a unit on a node.
func (q *queues) add(u, n int) {
	q.at.Add(n, u)
	q.sort(n)
	q.markDirty(n)
}

func (q *queues) sort(n int) {
	if list := q.at.At(n); len(list) > 1 {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(q.agenda.units[a].key, q.agenda.units[b].key) })
	}
}

// markDirty schedules the queue of a node for another look.
func (q *queues) markDirty(n int) {
	if !q.dirty[n] && len(q.at.At(n)) > 0 {
		q.dirty[n], q.dirtyNodes = true, append(q.dirtyNodes, n)
	}
}

// markAllDirty schedules all queues for another look.
func (q *queues) markAllDirty() {
	for n := range q.at.All() {
		q.markDirty(n)
	}
}

// startQueued tries the units on all dirty nodes, and removes those that begin.
func (q *queues) startQueued(try func(unit int)) {
	for len(q.dirtyNodes) > 0 {
		n := q.dirtyNodes[len(q.dirtyNodes)-1]
		q.dirtyNodes = q.dirtyNodes[:len(q.dirtyNodes)-1]
		q.dirty[n] = false
		list := q.at.At(n)
		queue := list[:0]
		for _, u := range list {
			try(u)
			if q.agenda.units[u].waiting {
				queue = append(queue, u)
			}
		}
		*q.at.Ref(n) = queue
	}
}
