// Package schedule finds when the actions take place that lead to a placement, and writes
// them as a plan.
//
// [Follow] simulates them event by event; actions start as soon as room, links, rules and gangs
// allow (start.go). A cycle of actions that wait for each other is broken by a bypass
// (bypass.go). [Exhaustive] explores everything that can happen in a small problem. order.go
// finds what the actions of a plan wait for.
package schedule

import (
	"cmp"
	"container/heap"
	"math/rand/v2"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
)

// Schedule is when the actions take place that lead to a placement.
type Schedule struct {
	*problem.Problem
	tasks    []task
	pending  int // units that have not started, and nodes that are to come on
	bypasses int

	Cost int64 // equation (2)
	Last repack.Ticks
}

// simulation finds a schedule: a unit of tasks starts in the first instant with room for it, and
// of the units that wait for the same room the smaller key goes first. This is equation (1),
// followed event by event.
type simulation struct {
	Schedule
	occupancy
	switching
	queues

	units       []unit
	clock       repack.Ticks
	ends        ends
	traffic     *traffic // nil if there is no network
	slots       *slots   // nil if no node has a limit of transfers
	taskOf      []int    // the next or running task of each VM; -1
	monitors    *monitors
	rng         *rand.Rand
	giversFirst bool // units that free no room go last
	startCount  int  // tasks that have started
	gangs       []gangState
	bypassesOf  []int // of each VM
}

// queues are the units that wait for room on nodes.
type queues struct {
	queue      [][]int // by node, sorted by key
	dirtyNodes []int   // nodes on which something has changed
	dirty      []bool  // by node
}

// maxBypasses bounds the bypasses of a VM.
const maxBypasses = 3

// Follow simulates the placement. With a generator, order and bypasses are partly random; nil
// takes the best in sight. The schedule is stuck if it is not complete.
func Follow(s *placement.State, rng *rand.Rand) *Schedule { return &simulate(s, rng, false).Schedule }

// FollowPatiently simulates the placement so that tasks that only take room, such as boots and
// resumes, wait for all that free some (thesis §8.1.2).
func FollowPatiently(s *placement.State, rng *rand.Rand) *Schedule {
	return &simulate(s, rng, true).Schedule
}

func simulate(s *placement.State, rng *rand.Rand, patient bool) *simulation {
	c := &simulation{Schedule: Schedule{Problem: s.Problem, tasks: tasksOf(s)}, rng: rng, giversFirst: patient}
	c.units = unitsOf(s.Problem, c.tasks)
	for u := range c.units {
		c.units[u].key = int64(c.perturb(repack.Ticks(c.units[u].key)))
	}
	c.power = s.NodePower()
	c.prepare(s.NodeOf)
	c.run()
	c.monitors.close(c.position)
	return c
}

// perturb varies a duration at random, if there is a generator.
func (c *simulation) perturb(takes repack.Ticks) repack.Ticks {
	if c.rng == nil {
		return takes
	}
	return repack.Ticks(float64(takes) * (0.25 + c.rng.Float64()))
}

// prepare sets the state before the first instant.
func (c *simulation) prepare(to []int) {
	nodes := len(c.In.Nodes)
	c.occupancy = newOccupancy(c.Problem)
	c.queues = queues{queue: make([][]int, nodes), dirty: make([]bool, nodes)}
	c.on, c.images, c.offAt = make([]bool, nodes), make([]int, nodes), make([]repack.Ticks, nodes)
	c.taskOf, c.gangs = make([]int, len(c.In.VMs)), make([]gangState, len(c.In.Gangs))
	for u := range c.units {
		c.registerUnit(u)
	}
	c.pending, c.bypassesOf = len(c.units), make([]int, len(c.In.VMs))
	c.ends.list = &c.tasks
	for n := range nodes {
		c.on[n], c.offAt[n] = c.In.Nodes[n].State == repack.Online, repack.Forever
	}
	c.monitors, c.traffic = newMonitors(c.Problem, c.position), newTraffic(c.In, c.rng)
	c.slots = newSlots(c.In)
	for i := range c.Gates {
		c.Gates[i].Begin(to)
	}
	for vm := range c.taskOf {
		c.taskOf[vm] = -1
	}
	for i := range c.tasks {
		c.taskOf[c.tasks[i].vm] = i
		if c.tasks[i].kind == repack.Resume {
			c.images[c.tasks[i].from]++
		}
	}
}

// run starts what can start, and goes from end to end until nothing is left or everything
// waits.
func (c *simulation) run() {
	c.shrink(func(vm int) bool { return c.taskOf[vm] < 0 })
	for u := range c.units {
		for _, i := range c.units[u].tasks {
			if c.tasks[i].comes() {
				to := c.tasks[i].to
				c.queue[to] = append(c.queue[to], u)
			}
		}
	}
	for n := range c.queue {
		c.sortQueue(n)
	}
	for _, u := range c.firstTurns() {
		if c.units[u].waiting && !c.contested(u) && c.admits(u) {
			c.start(u)
		}
	}
	for n := range c.queue {
		c.markDirty(n)
	}
	c.powerUp()
	c.startAll()
	for {
		for c.ends.Len() > 0 || c.awaitsBusy() {
			c.step()
		}
		if c.pending == 0 || c.Aborted() || !(cycleBreaker{c}).breakCycle() {
			return
		}
	}
}

// firstTurns returns the order of units in the first instant: by key where units may share links
// or transfer slots without sharing a queue.
func (c *simulation) firstTurns() []int {
	order := make([]int, len(c.units))
	for u := range order {
		order[u] = u
	}
	if c.traffic != nil || c.slots != nil {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.units[a].key, c.units[b].key) })
	}
	return order
}

// contested reports whether the unit shares a queue with others.
func (c *simulation) contested(u int) bool {
	for _, i := range c.units[u].tasks {
		if to := c.tasks[i].to; to != repack.Nowhere && len(c.queue[to]) > 1 {
			return true
		}
	}
	return false
}

func (c *simulation) sortQueue(n int) {
	if len(c.queue[n]) > 1 {
		slices.SortStableFunc(c.queue[n], func(a, b int) int { return cmp.Compare(c.units[a].key, c.units[b].key) })
	}
}

// step ends all tasks of the next instant, and starts units that fit then.
func (c *simulation) step() {
	c.clock = c.nextInstant()
	c.freeBusy()
	for c.ends.Len() > 0 && c.tasks[c.ends.order[0]].end == c.clock {
		c.end(heap.Pop(&c.ends).(int))
	}
	c.startAll()
}

// startAll starts units until no more can start in this instant.
func (c *simulation) startAll() {
	if c.giversFirst && !c.giversPending() {
		c.giversFirst = false
		for n := range c.queue {
			c.markDirty(n)
		}
	}
	for len(c.dirtyNodes) > 0 {
		n := c.dirtyNodes[len(c.dirtyNodes)-1]
		c.dirtyNodes = c.dirtyNodes[:len(c.dirtyNodes)-1]
		c.dirty[n] = false
		queue := c.queue[n][:0]
		for _, u := range c.queue[n] {
			if c.units[u].waiting && c.admits(u) {
				c.start(u)
			}
			if c.units[u].waiting {
				queue = append(queue, u)
			}
		}
		c.queue[n] = queue
	}
	if c.slots != nil {
		c.startQueuedForSlots()
	}
	if c.traffic != nil {
		c.startQueuedOnLinks()
	}
}

// freesRoom reports whether a unit frees room.
func (c *simulation) freesRoom(u int) bool {
	return slices.ContainsFunc(c.units[u].tasks, func(i int) bool { return c.tasks[i].leaves() })
}

// giversPending reports whether a unit that frees room has not begun.
func (c *simulation) giversPending() bool {
	for u := range c.units {
		if (c.units[u].waiting || c.units[u].after > 0) && c.freesRoom(u) {
			return true
		}
	}
	return false
}

// markDirty schedules the queue of a node for another look.
func (c *simulation) markDirty(n int) {
	if !c.dirty[n] && len(c.queue[n]) > 0 {
		c.dirty[n], c.dirtyNodes = true, append(c.dirtyNodes, n)
	}
}

// number records in which order tasks start.
func (c *simulation) number(t *task) {
	c.startCount++
	t.number = c.startCount
}

// start starts all tasks of a unit now.
func (c *simulation) start(u int) {
	unit := &c.units[u]
	var longest repack.Ticks
	for _, i := range unit.tasks {
		longest = max(longest, c.tasks[i].takes)
	}
	unit.waiting = false
	c.pending--
	c.gangsBegin(u)
	for _, i := range unit.tasks {
		t := &c.tasks[i]
		t.started, t.start, t.end = true, c.clock, c.clock+t.takes
		c.number(t)
		switch {
		case c.slots == nil:
		case unit.ruled:
			c.slots.take(t, c.clock, longest)
		default:
			at := c.slots.take(t, c.clock, t.takes)
			t.end = at + t.takes
			if len(unit.tasks) == 1 {
				t.start = at
			}
		}
		if unit.atEnd {
			t.start, t.end = c.clock+longest-t.takes, c.clock+longest
		}
		if unit.atStart {
			t.start = c.clock
		}
		c.Last = max(c.Last, t.end)
		c.Cost += int64(t.end) * c.In.VMs[t.vm].Weight
		if t.comes() {
			c.arrive(t.vm, t.to)
			c.monitors.come(t.vm, t.to)
		}
		for _, g := range c.GatesOf[t.vm] {
			c.Gates[g].Started(t.vm, t.kind, c.clock)
		}
		c.useLinks(t, 1)
		heap.Push(&c.ends, i)
	}
}

// end ends a task: its VM has left the node that it came from.
func (c *simulation) end(i int) {
	t := &c.tasks[i]
	if t.kind.OnNode() {
		c.nodeSwitched(t)
		return
	}
	c.useLinks(t, -1)
	c.slotEnded(t)
	for _, g := range c.GatesOf[t.vm] {
		c.Gates[g].Ended(t.vm, t.kind, c.clock)
		for _, vm := range c.Gates[g].VMs {
			c.retry(vm)
		}
	}
	switch {
	case t.kind == repack.Resume:
		c.images[t.from]--
		c.settle(t.vm, t.to)
		c.switchOffIfEmpty(t.from)
	case t.leaves() && t.unit >= 0 && c.units[t.unit].held:
		c.leaveAsGang(t.unit)
	case t.leaves():
		c.leave(t)
	default:
		c.settle(t.vm, t.to)
	}
	c.taskEnded(i)
	if t.then >= 0 {
		c.enqueue(t.then)
	}
}

// retry tries again to start the unit of a VM that a gate may have held back.
func (c *simulation) retry(vm int) {
	i := c.taskOf[vm]
	if i < 0 || c.tasks[i].started {
		return
	}
	if t := &c.tasks[i]; t.comes() {
		c.markDirty(t.to)
	} else if c.units[t.unit].waiting && c.admits(t.unit) {
		c.start(t.unit)
	}
}

// leaveAsGang frees the room of a gang once its last member is done.
func (c *simulation) leaveAsGang(u int) {
	for _, i := range c.units[u].tasks {
		if t := &c.tasks[i]; t.end > c.clock || c.ends.holds(i) {
			return
		}
	}
	for _, i := range c.units[u].tasks {
		if t := &c.tasks[i]; t.leaves() && c.position[t.vm][0] == t.from {
			c.leave(t)
		}
	}
}

// leave frees the room of a VM on the node that it has left.
func (c *simulation) leave(t *task) {
	c.depart(t.vm, t.from, t.to)
	c.markDirty(t.from)
	c.monitors.leave(t.vm, t.from, c.markDirty, c.retry)
	c.switchOffIfEmpty(t.from)
}

// enqueue makes the unit of a task wait for room, once all tasks before it have ended.
func (c *simulation) enqueue(i int) {
	u := &c.units[c.tasks[i].unit]
	c.taskOf[c.tasks[i].vm] = i
	if u.after--; u.after > 0 {
		return
	}
	u.waiting = true
	for _, i := range u.tasks {
		to := c.tasks[i].to
		c.queue[to] = append(c.queue[to], c.tasks[i].unit)
		c.sortQueue(to)
		c.markDirty(to)
	}
}
