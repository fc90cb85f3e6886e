package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"vjob/internal/sparse"
	"vjob/repack"
)

// slots are the transfer slots of nodes. A unit starts when a slot is free on every node on which
// it copies, so that no gang is paused before it can begin to be copied. The first of a gang take
// the slots that are free, the others reserve those that are free next, in rank order: until they
// have them they wait, paused. Tasks that a rule joins start at once or not at all. Nil slots have no limit.
type slots struct {
	agenda *agenda
	freeAt sparse.Lists[repack.Ticks] // by node, when each of its slots is free for the next task; of nodes that a task has asked for
	queue  sparse.Lists[int]          // units that wait for a slot of a node, by key
	freed  []int                      // nodes on which a transfer has ended
	busy   []busySlot                 // slots that are taken at first, the next to become free first
}

// busySlot is a slot that is taken before the plan begins.
type busySlot struct {
	until repack.Ticks
	node  int
}

// newSlots returns the slots of an instance before the first instant; nil if no node has a limit.
func newSlots(a *agenda) *slots {
	in := a.In
	if !in.LimitsTransfers() {
		return nil
	}
	s := &slots{agenda: a, freeAt: sparse.New[repack.Ticks](len(in.Nodes)), queue: sparse.New[int](len(in.Nodes))}
	for n := range in.Nodes {
		if node := &in.Nodes[n]; node.Transfers > 0 {
			for _, until := range node.Busy {
				s.busy = append(s.busy, busySlot{until, n})
			}
		}
	}
	slices.SortFunc(s.busy, func(a, b busySlot) int { return cmp.Or(cmp.Compare(a.until, b.until), cmp.Compare(a.node, b.node)) })
	return s
}

// limited appends to a list the nodes with a limit on which a task copies.
func (s *slots) limited(list []int, t *task) []int {
	for _, n := range t.kind.TransferNodes(t.from, t.to) {
		if n != repack.Nowhere && s.agenda.In.Nodes[n].Transfers > 0 {
			list = append(list, n)
		}
	}
	return list
}

// of returns when each slot of a node with a limit is free.
func (s *slots) of(n int) []repack.Ticks {
	if list := s.freeAt.At(n); list != nil {
		return list
	}
	node := &s.agenda.In.Nodes[n]
	list := make([]repack.Ticks, min(node.Transfers, len(s.agenda.In.VMs)+len(node.Busy)))
	copy(list, node.Busy)
	*s.freeAt.Ref(n) = list
	return list
}

// first returns the slot of a node that is free first.
func (s *slots) first(node int) *repack.Ticks {
	list := s.of(node)
	best := &list[0]
	for i := range list {
		if at := &list[i]; *at < *best {
			best = at
		}
	}
	return best
}

// free returns how many slots of a node are free at an instant.
func (s *slots) free(node int, at repack.Ticks) (count int) {
	for _, from := range s.of(node) {
		if from <= at {
			count++
		}
	}
	return count
}

// take reserves the slots of a task and returns when it has them, at a time or later.
func (s *slots) take(t *task, at, takes repack.Ticks) repack.Ticks {
	var buffer [2]int
	nodes := s.limited(buffer[:0], t)
	for _, n := range nodes {
		at = max(at, *s.first(n))
	}
	for _, n := range nodes {
		*s.first(n) = at + takes
	}
	return at
}

// admit reports whether a unit may start now as far as slots are concerned. If it has to wait,
// it is queued.
func (s *slots) admit(u int) bool {
	if s == nil {
		return true
	}
	unit := &s.agenda.units[u]
	var buffer [2]int
	for k, i := range unit.tasks {
		for _, n := range s.limited(buffer[:0], &s.agenda.tasks[i]) {
			need := 1
			if unit.ruled {
				need = s.tasksOn(s.agenda.tasks, unit.tasks[:k+1], n)
			}
			if s.free(n, s.agenda.clock) < need {
				s.enqueue(u, n)
				return false
			}
		}
	}
	return true
}

// tasksOn returns how many of some tasks copy on a node.
func (s *slots) tasksOn(all []task, some []int, node int) (count int) {
	var buffer [2]int
	for _, i := range some {
		if slices.Contains(s.limited(buffer[:0], &all[i]), node) {
			count++
		}
	}
	return count
}

// enqueue queues a unit for a slot, by key.
func (s *slots) enqueue(u, node int) {
	queue := s.queue.At(node)
	if slices.Contains(queue, u) {
		return
	}
	at := sort.Search(len(queue), func(i int) bool { return s.agenda.units[queue[i]].key > s.agenda.units[u].key })
	*s.queue.Ref(node) = slices.Insert(queue, at, u)
}

// ended records that a task gives its slots back.
func (s *slots) ended(t *task) {
	if s != nil {
		s.freed = s.limited(s.freed, t)
	}
}

// startQueued tries the units that waited for slots that are free now.
func (s *slots) startQueued(try func(unit int)) {
	for s != nil && len(s.freed) > 0 {
		n := s.freed[len(s.freed)-1]
		s.freed = s.freed[:len(s.freed)-1]
		queue := s.queue.At(n)
		if len(queue) == 0 {
			continue
		}
		left := s.queue.Ref(n)
		*left = nil
		for k, u := range queue {
			if s.free(n, s.agenda.clock) == 0 {
				*left = append(*left, queue[k:]...)
				break
			}
			try(u)
		}
	}
}

// awaitsBusy reports whether a unit waits for a slot while slots are taken that were so before the
// plan.
func (s *slots) awaitsBusy() bool {
	if s == nil || len(s.busy) == 0 {
		return false
	}
	for _, queue := range s.queue.All() {
		if slices.ContainsFunc(queue, func(u int) bool { return s.agenda.units[u].waiting }) {
			return true
		}
	}
	return false
}

// nextFree returns when the next slot becomes free that was taken before the plan.
func (s *slots) nextFree() repack.Ticks {
	if s == nil || len(s.busy) == 0 {
		return repack.Forever
	}
	return max(s.agenda.clock, s.busy[0].until)
}

// freeBusy frees the slots that were taken before the plan and are so no more.
func (s *slots) freeBusy() {
	for s != nil && len(s.busy) > 0 && s.busy[0].until <= s.agenda.clock {
		s.freed = append(s.freed, s.busy[0].node)
		s.busy = s.busy[1:]
	}
}

// lackText says that tasks that must start at once need more transfer slots than a node has.
func (s *slots) lackText() string {
	if s == nil {
		return ""
	}
	for u := range s.agenda.units {
		unit := &s.agenda.units[u]
		if !unit.waiting || !unit.ruled {
			continue
		}
		for n, node := range s.agenda.In.Nodes {
			if need := s.tasksOn(s.agenda.tasks, unit.tasks, n); node.Transfers > 0 && need > node.Transfers {
				return fmt.Sprintf("%d VMs must %s at once: %s carries %d transfers at once", need, s.agenda.tasks[unit.tasks[0]].kind, s.agenda.In.NodeName(n), node.Transfers)
			}
		}
	}
	return ""
}
