package schedule

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
)

// cycleBreaker breaks a cycle of units in a simulation in which no task is under way.
type cycleBreaker struct{ *simulation }

// breakCycle breaks a cycle of units that wait for each other. A VM goes to a third node, a
// pivot, until its place is free (thesis §8.2); if no node has room for that, a VM or a whole
// gang is suspended for a while. It reports whether it found a way.
func (c cycleBreaker) breakCycle() bool {
	c.bypasses++
	if c.splitGang() {
		return true
	}
	h, found := c.bestBypass()
	vms, takes := c.bestPause()
	switch {
	case found && (vms == nil || !takes.better(h.worth)):
		c.bypass(h)
	case vms != nil:
		c.pause(vms)
	default:
		return false
	}
	return true
}

// splitGang moves those VMs of a paused gang for which there is room, if there is not enough
// for all. The gang is paused again for the others.
func (c cycleBreaker) splitGang() bool {
	for u := range c.units {
		unit := &c.units[u]
		if !unit.waiting || len(unit.tasks) < 2 || c.tasks[unit.tasks[0]].kind != repack.Migrate || !c.gangs.idle(u) ||
			slices.ContainsFunc(unit.tasks, func(i int) bool { return c.Synced[c.tasks[i].vm] }) {
			continue
		}
		if some := c.startable(unit.tasks); len(some) > 0 {
			c.splitOff(u, some)
			return true
		}
	}
	return false
}

// splitOff makes a unit of some tasks and starts it. It takes at least one tick: what happens
// to a gang in one instant is one move.
func (c cycleBreaker) splitOff(u int, some []int) {
	v := c.addUnit(unit{tasks: some, held: true, waiting: true})
	c.tasks[some[0]].takes = max(1, c.tasks[some[0]].takes)
	for _, i := range some {
		c.units[u].tasks = placement.Without(c.units[u].tasks, i)
		c.tasks[i].unit = v
	}
	c.gangs.register(v)
	c.traffic.setRates(v) // nothing else is under way
	c.start(v)
}

// worth is what a bypass is good for.
type worth struct {
	helps int // 2: something can start then; 1: something waits for it at least
	takes repack.Ticks
}

// better prefers more help, then less time.
func (a worth) better(b worth) bool {
	if a.helps != b.helps {
		return a.helps > b.helps
	}
	return a.takes < b.takes
}

// bypass is a VM and the pivot to which it goes.
type bypass struct {
	vm, pivot int
	worth
}

// bestBypass returns the shortest bypass after which something can start.
func (c cycleBreaker) bestBypass() (best bypass, ok bool) {
	try := func(vm int, takes repack.Ticks) {
		h := bypass{vm: vm, worth: worth{c.unblocks(vm), c.perturb(takes)}}
		if h.helps == 0 || ok && !h.better(best.worth) {
			return
		}
		if h.pivot = c.pivot(vm); h.pivot != repack.Nowhere {
			best, ok = h, true
		}
	}
	for vm := range c.position {
		n, i := c.position[vm][0], c.taskOf[vm]
		switch {
		case n == repack.Nowhere || c.position[vm][1] != repack.Nowhere || len(c.queues.at.At(n)) == 0:
		case c.Rooted[vm] || c.In.VMs[vm].State != repack.Running || !c.mayBypass(vm):
		case i < 0: // VMs that stay move only if something can start then
			if c.unblocks(vm) == 2 {
				try(vm, 2*c.MinDuration(vm, repack.Migrate))
			}
		case c.tasks[i].kind == repack.Migrate && !c.tasks[i].started && len(c.units[c.tasks[i].unit].tasks) == 1:
			try(vm, c.MinDuration(vm, repack.Migrate))
		}
	}
	return best, ok
}

// mayBypass reports whether a VM may take a bypass alone: its gang need not be paused for it,
// and is not.
func (c cycleBreaker) mayBypass(vm int) bool {
	g := c.GangOf[vm]
	return !c.Synced[vm] && c.bypassesOf[vm] < maxBypasses && c.unusedSince(vm) && (g < 0 || !c.In.VMs[vm].Paused && !c.gangs.states[g].paused)
}

// unblocks returns what the departure of VMs is good for: 2 if something else can start then,
// 1 if something waits for the room, else 0.
func (c cycleBreaker) unblocks(vms ...int) (most int) {
	for _, vm := range vms {
		c.release(vm, c.position[vm][0], 1)
	}
	for _, vm := range vms {
		for _, u := range c.queues.at.At(c.position[vm][0]) {
			if !c.units[u].waiting || len(vms) == 1 && c.tasks[c.units[u].tasks[0]].vm == vm {
				continue
			}
			if c.haveRoom(c.units[u].tasks) { // a suspended gang makes room for itself as well
				most = 2
			}
			most = max(most, 1)
		}
	}
	for _, vm := range vms {
		c.release(vm, c.position[vm][0], -1)
	}
	return most
}

// pivot returns the node that can take the VM for a while and has the shortest queue.
func (c cycleBreaker) pivot(vm int) int {
	best, least := repack.Nowhere, 0
	to := repack.Nowhere
	if i := c.taskOf[vm]; i >= 0 {
		to = c.tasks[i].to
	}
	c.BannedAlways[vm].EachOutside(len(c.In.Nodes), func(n int) {
		if n == c.position[vm][0] || n == to || !c.switching.on[n] || c.In.Nodes[n].Want == repack.Offline || best != repack.Nowhere && len(c.queues.at.At(n)) >= least {
			return
		}
		if c.hasRoom(vm, n) && c.MayPass(vm, n) && c.monitors.Admits(vm, n) && c.pivotConverges(vm, n) {
			best, least = n, len(c.queues.at.At(n))
		}
	})
	return best
}

// bypass sends a VM to its pivot, and from there to its final node.
func (c cycleBreaker) bypass(h bypass) {
	c.bypassesOf[h.vm]++
	c.takeBack(h.vm)
	from := c.position[h.vm][0]
	there := c.IdleDuration(h.vm, repack.Migrate, from, h.pivot)
	u := c.addUnit(unit{})
	c.addTask(u, task{vm: h.vm, kind: repack.Migrate, from: from, to: h.pivot, takes: there})
	on := c.IdleDuration(h.vm, repack.Migrate, h.pivot, c.target(h.vm))
	v := c.addUnit(unit{key: c.SmithRatio(h.vm, on)})
	c.follow(h.vm, v, task{vm: h.vm, kind: repack.Migrate, from: h.pivot, to: c.target(h.vm), takes: on})
	c.units[u].waiting = true
	c.gangs.register(u)
	c.gangs.register(v)
	c.traffic.setRates(u) // nothing else is under way
	c.start(u)
}

// bestPause returns the VMs, one or a gang, that are quickest to suspend and resume, if that
// helps.
func (c cycleBreaker) bestPause() (best []int, most worth) {
	seen := make([]bool, len(c.In.Gangs))
	for vm := range c.In.VMs {
		vms := []int{vm}
		if g := c.GangOf[vm]; g >= 0 {
			if seen[g] {
				continue
			}
			seen[g] = true
			vms = c.gangRunning(c.In.Gangs[g])
			if c.gangs.states[g].active > 0 {
				continue
			}
		}
		takes, ok := c.pauseTime(vms)
		if !ok {
			continue
		}
		w := worth{c.unblocks(vms...), c.perturb(takes * repack.Ticks(len(vms)))}
		if w.helps > 0 && !most.better(w) { // of equals the last, which is often the least important
			best, most = vms, w
		}
	}
	return best, most
}

// gangRunning returns the VMs of a gang that run and keep running; none if some come or go
// meanwhile, as a gang is paused as a whole.
func (c cycleBreaker) gangRunning(vms []int) (list []int) {
	for _, vm := range vms {
		switch v := &c.In.VMs[vm]; {
		case v.Keeps():
			list = append(list, vm)
		case v.State == repack.Running || v.Want == repack.Running:
			return nil
		}
	}
	return list
}

// pauseTime returns how long it takes to suspend and resume the VMs. It is not ok if that
// cannot begin.
func (c cycleBreaker) pauseTime(vms []int) (most repack.Ticks, ok bool) {
	for _, vm := range vms {
		v, i := &c.In.VMs[vm], c.taskOf[vm]
		if !v.Keeps() || !v.Sleepable || c.Rooted[vm] || c.bypassesOf[vm] > 0 || c.position[vm][0] == repack.Nowhere || c.position[vm][1] != repack.Nowhere ||
			i >= 0 && !c.tasks[i].started && c.units[c.tasks[i].unit].after > 0 {
			return 0, false
		}
		if i >= 0 && c.tasks[i].started && c.tasks[i].end > c.clock {
			return 0, false
		}
		most = max(most, v.Takes.Suspend+c.MinDuration(vm, repack.Resume))
	}
	return most, len(vms) > 0 && c.unusedSince(vms...)
}

// pause suspends VMs together, to be resumed together on their final nodes.
func (c cycleBreaker) pause(vms []int) {
	u, v := c.addUnit(unit{held: true}), c.addUnit(unit{})
	for _, vm := range vms {
		c.bypassesOf[vm]++
		c.takeBack(vm)
		takes := &c.In.VMs[vm].Takes
		from, to := c.position[vm][0], c.target(vm)
		resume := c.IdleDuration(vm, repack.Resume, from, to)
		c.units[v].key += c.SmithRatio(vm, takes.Migrate)
		c.addTask(u, task{vm: vm, kind: repack.Suspend, from: from, to: repack.Nowhere, takes: takes.Suspend})
		c.follow(vm, v, task{vm: vm, kind: repack.Resume, from: from, to: to, takes: resume})
		c.switching.images[from]++
	}
	c.units[u].waiting = true
	c.gangs.register(u)
	c.gangs.register(v)
	c.start(u)
}

// target returns the final node of a VM.
func (c cycleBreaker) target(vm int) int {
	if i := c.taskOf[vm]; i >= 0 && !c.tasks[i].started {
		return c.tasks[i].to
	}
	return c.position[vm][0]
}

func (c cycleBreaker) addUnit(u unit) int {
	c.units = append(c.units, u)
	c.pending++
	return len(c.units) - 1
}

// addTask adds the task that the VM does next.
func (c cycleBreaker) addTask(u int, t task) {
	t.unit, t.then = u, -1
	c.units[u].tasks = append(c.units[u].tasks, len(c.tasks))
	c.tasks = append(c.tasks, t)
}

// follow adds a task of the VM after the task that was added last. It replaces the waiting
// task of the VM, if there is one.
func (c cycleBreaker) follow(vm, u int, t task) {
	before := len(c.tasks) - 1
	i := c.taskOf[vm]
	if i >= 0 && !c.tasks[i].started {
		c.removeTask(i)
		t.unit, t.then = u, -1
		c.tasks[i] = t
		c.units[u].tasks = append(c.units[u].tasks, i)
	} else {
		i = len(c.tasks)
		c.addTask(u, t)
	}
	c.tasks[before].then = i
	c.units[u].after++
	c.taskOf[vm] = before
}

// removeTask removes a task from the unit in which it waits.
func (c cycleBreaker) removeTask(i int) {
	u := &c.units[c.tasks[i].unit]
	u.tasks = placement.Without(u.tasks, i)
	if len(u.tasks) == 0 && u.waiting {
		u.waiting = false
		c.pending--
	}
}

// pivotConverges reports whether a VM can migrate to a pivot and on from there.
func (c cycleBreaker) pivotConverges(vm, pivot int) bool {
	return max(c.IdleDuration(vm, repack.Migrate, c.position[vm][0], pivot), c.IdleDuration(vm, repack.Migrate, pivot, c.target(vm))) < repack.Forever
}
