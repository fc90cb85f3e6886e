// Package schedule finds when the actions take place that lead to a placement, and writes
// them as a plan.
//
// [Follow] simulates them event by event; actions start as soon as room, links, rules and gangs
// allow (start.go). The agenda (agenda.go) has the tasks; each part beside it has the state of one
// thing that tasks wait for: room (room.go, queues.go), nodes that come on (switch.go), gangs
// (gang.go), transfer slots (slots.go), links (traffic.go), rules (monitor.go). A cycle of actions that wait for each
// other is broken by a bypass (bypass.go). [Exhaustive] explores everything that can happen in a
// small problem. order.go finds what the actions of a plan wait for.
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
	agenda
	occupancy

	// What tasks wait for, beside room.
	queues    queues
	switching switching
	gangs     gangs
	traffic   *traffic // nil if there is no network
	slots     *slots   // nil if no node has a limit of transfers
	monitors  *Monitors

	rng         *rand.Rand
	giversFirst bool  // units that free no room go last
	bypassesOf  []int // of each VM
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
	c := &simulation{rng: rng, giversFirst: patient}
	c.Schedule = Schedule{Problem: s.Problem, tasks: tasksOf(s)}
	c.units = unitsOf(s.Problem, c.tasks)
	for u := range c.units {
		c.units[u].key = int64(c.perturb(repack.Ticks(c.units[u].key)))
	}
	c.prepare(s.NodeOf, s.NodePower())
	c.run()
	c.monitors.Close(c.position)
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
func (c *simulation) prepare(to []int, power placement.NodePower) {
	c.occupancy = newOccupancy(c.Problem)
	c.taskOf, c.bypassesOf = make([]int, len(c.In.VMs)), make([]int, len(c.In.VMs))
	c.pending = len(c.units)
	c.ends.list = &c.tasks
	c.queues, c.switching = newQueues(&c.agenda), newSwitching(&c.agenda, &c.occupancy, power)
	c.gangs = newGangs(&c.agenda)
	c.monitors, c.traffic = NewMonitors(c.Problem, c.position), newTraffic(&c.agenda, c.rng)
	c.slots = newSlots(&c.agenda)
	for i := range c.Gates {
		c.Gates[i].Begin(to)
	}
	for vm := range c.taskOf {
		c.taskOf[vm] = -1
	}
	for i := range c.tasks {
		c.taskOf[c.tasks[i].vm] = i
		if c.tasks[i].kind == repack.Resume {
			c.switching.images[c.tasks[i].from]++
		}
	}
}

// run starts what can start, and goes from end to end until nothing is left or everything
// waits.
func (c *simulation) run() {
	c.shrink(func(vm int) bool { return c.taskOf[vm] < 0 })
	c.queues.fill()
	for _, u := range c.firstTurns() {
		if !c.queues.contested(u) {
			c.try(u)
		}
	}
	c.queues.markAllDirty()
	c.switching.powerUp()
	c.startAll()
	for {
		for c.ends.Len() > 0 || c.slots.awaitsBusy() {
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

// nextInstant returns when the next task ends, or the next slot becomes free that was taken before
// the plan.
func (c *simulation) nextInstant() repack.Ticks {
	next := repack.Forever
	if c.ends.Len() > 0 {
		next = c.tasks[c.ends.order[0]].end
	}
	return min(next, c.slots.nextFree())
}

// step ends all tasks of the next instant, and starts units that fit then.
func (c *simulation) step() {
	c.clock = c.nextInstant()
	c.slots.freeBusy()
	for c.ends.Len() > 0 && c.tasks[c.ends.order[0]].end == c.clock {
		c.end(heap.Pop(&c.ends).(int))
	}
	c.startAll()
}

// startAll starts units until no more can start in this instant.
func (c *simulation) startAll() {
	if c.giversFirst && !c.giversPending() {
		c.giversFirst = false
		c.queues.markAllDirty()
	}
	c.queues.startQueued(c.try)
	c.slots.startQueued(c.try)
	c.traffic.startQueued(c.try)
}

// try starts a unit if that is possible now.
func (c *simulation) try(u int) {
	if c.units[u].waiting && c.admits(u) {
		c.start(u)
	}
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
	c.gangs.begin(u)
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
		c.traffic.use(t, 1)
		heap.Push(&c.ends, i)
	}
}

// end ends a task: its VM has left the node that it came from.
func (c *simulation) end(i int) {
	t := &c.tasks[i]
	if t.kind.OnNode() {
		if c.switching.ended(t) {
			c.queues.markDirty(t.to)
		}
		return
	}
	c.traffic.use(t, -1)
	c.slots.ended(t)
	for _, g := range c.GatesOf[t.vm] {
		c.Gates[g].Ended(t.vm, t.kind, c.clock)
		for _, vm := range c.Gates[g].VMs {
			c.retry(vm)
		}
	}
	switch {
	case t.kind == repack.Resume:
		c.switching.images[t.from]--
		c.settle(t.vm, t.to)
		c.switching.offIfEmpty(t.from)
	case t.leaves() && t.unit >= 0 && c.units[t.unit].held:
		c.leaveAsGang(t.unit)
	case t.leaves():
		c.leave(t)
	default:
		c.settle(t.vm, t.to)
	}
	for _, u := range c.gangs.ended(i) {
		if !c.units[u].waiting {
			continue
		}
		for _, i := range c.units[u].tasks {
			c.retry(c.tasks[i].vm)
		}
	}
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
		c.queues.markDirty(t.to)
	} else {
		c.try(t.unit)
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
	c.queues.markDirty(t.from)
	c.monitors.leave(t.vm, t.from, c.queues.markDirty, c.retry)
	c.switching.offIfEmpty(t.from)
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
		c.queues.add(c.tasks[i].unit, c.tasks[i].to)
	}
}
