package schedule

import (
	"cmp"
	"slices"
	"sort"

	"vjob/repack"
)

// slots are the transfer slots of nodes. A unit starts when a slot is free on every node on which
// it copies, so that no gang is paused before it can begin to be copied. The first of a gang take
// the slots that are free, the others reserve those that are free next, in rank order: until they
// have them they wait, paused. Tasks that a rule joins start at once or not at all.
type slots struct {
	freeAt [][]repack.Ticks // by node, when each of its slots is free for the next task; nil: no limit
	queue  [][]int          // units that wait for a slot of a node, by key
	freed  []int            // nodes on which a transfer has ended
	busy   []busySlot       // slots that are taken at first, the next to become free first
}

// busySlot is a slot that is taken before the plan begins.
type busySlot struct {
	until repack.Ticks
	node  int
}

// newSlots returns the slots of an instance before the first instant; nil if no node has a limit.
func newSlots(in *repack.Instance) *slots {
	if !in.LimitsTransfers() {
		return nil
	}
	s := &slots{freeAt: make([][]repack.Ticks, len(in.Nodes)), queue: make([][]int, len(in.Nodes))}
	for n := range in.Nodes {
		node := &in.Nodes[n]
		if node.Transfers == 0 {
			continue
		}
		s.freeAt[n] = make([]repack.Ticks, min(node.Transfers, len(in.VMs)+len(node.Busy)))
		for i, until := range node.Busy {
			s.freeAt[n][i] = until
			s.busy = append(s.busy, busySlot{until, n})
		}
	}
	slices.SortFunc(s.busy, func(a, b busySlot) int { return cmp.Or(cmp.Compare(a.until, b.until), cmp.Compare(a.node, b.node)) })
	return s
}

// limited appends to a list the nodes with a limit on which a task copies.
func (s *slots) limited(list []int, t *task) []int {
	for _, n := range t.kind.TransferNodes(t.from, t.to) {
		if n != repack.Nowhere && s.freeAt[n] != nil {
			list = append(list, n)
		}
	}
	return list
}

// first returns the slot of a node that is free first.
func (s *slots) first(node int) *repack.Ticks {
	best := &s.freeAt[node][0]
	for i := range s.freeAt[node] {
		if at := &s.freeAt[node][i]; *at < *best {
			best = at
		}
	}
	return best
}

// free returns how many slots of a node are free at an instant.
func (s *slots) free(node int, at repack.Ticks) (count int) {
	for _, from := range s.freeAt[node] {
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

// slotsFree reports whether a unit may start now as far as slots are concerned. If it has to wait,
// it is queued.
func (c *simulation) slotsFree(u int) bool {
	if c.slots == nil {
		return true
	}
	unit := &c.units[u]
	var buffer [2]int
	for k, i := range unit.tasks {
		for _, n := range c.slots.limited(buffer[:0], &c.tasks[i]) {
			need := 1
			if unit.ruled {
				need = c.slots.tasksOn(c.tasks, unit.tasks[:k+1], n)
			}
			if c.slots.free(n, c.clock) < need {
				c.queueForSlot(u, n)
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

// queueForSlot queues a unit for a slot, by key.
func (c *simulation) queueForSlot(u, node int) {
	queue := c.slots.queue[node]
	if slices.Contains(queue, u) {
		return
	}
	at := sort.Search(len(queue), func(i int) bool { return c.units[queue[i]].key > c.units[u].key })
	c.slots.queue[node] = slices.Insert(queue, at, u)
}

// slotEnded records that a task gives its slots back.
func (c *simulation) slotEnded(t *task) {
	if c.slots != nil {
		c.slots.freed = c.slots.limited(c.slots.freed, t)
	}
}

// startQueuedForSlots starts units that waited for slots that are free now.
func (c *simulation) startQueuedForSlots() {
	s := c.slots
	for len(s.freed) > 0 {
		n := s.freed[len(s.freed)-1]
		s.freed = s.freed[:len(s.freed)-1]
		queue := s.queue[n]
		s.queue[n] = nil
		for k, u := range queue {
			if s.free(n, c.clock) == 0 {
				s.queue[n] = append(s.queue[n], queue[k:]...)
				break
			}
			if c.units[u].waiting && c.admits(u) {
				c.start(u)
			}
		}
	}
}

// awaitsBusy reports whether a unit waits for a slot while slots are taken that were so before the
// plan.
func (c *simulation) awaitsBusy() bool {
	if c.slots == nil || len(c.slots.busy) == 0 {
		return false
	}
	for _, queue := range c.slots.queue {
		if slices.ContainsFunc(queue, func(u int) bool { return c.units[u].waiting }) {
			return true
		}
	}
	return false
}

// nextInstant returns when the next task ends, or the next slot becomes free that was taken before
// the plan.
func (c *simulation) nextInstant() repack.Ticks {
	next := repack.Forever
	if c.ends.Len() > 0 {
		next = c.tasks[c.ends.order[0]].end
	}
	if c.slots != nil && len(c.slots.busy) > 0 {
		next = min(next, max(c.clock, c.slots.busy[0].until))
	}
	return next
}

// freeBusy frees the slots that were taken before the plan and are so no more.
func (c *simulation) freeBusy() {
	for c.slots != nil && len(c.slots.busy) > 0 && c.slots.busy[0].until <= c.clock {
		c.slots.freed = append(c.slots.freed, c.slots.busy[0].node)
		c.slots.busy = c.slots.busy[1:]
	}
}
