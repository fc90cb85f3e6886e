package solve

import (
	"slices"

	"vjob/repack"
)

// detour breaks a circle of units that wait for each other: a VM goes to a third
// node, a pivot, until its place is free (thesis §8.2); or if no node has the room
// for that, a VM or a whole gang sleeps for a while. They are some that wait
// themselves, or that stay and will come back. False: there is no way.
func (c *schedule) detour() bool {
	c.detours++
	if c.part() {
		return true
	}
	h, found := c.bestHop()
	vms, takes := c.bestNap()
	switch {
	case found && (vms == nil || !takes.better(h.worth)):
		c.hop(h)
	case vms != nil:
		c.nap(vms)
	default:
		return false
	}
	return true
}

// part has those VMs of a paused gang move first for which there is room, if there
// is not for all: the gang is paused again for the others.
func (c *schedule) part() bool {
	for u := range c.units {
		unit := &c.units[u]
		if !unit.waiting || len(unit.tasks) < 2 || c.list[unit.tasks[0]].kind != repack.Migrate || !c.atEase(u) ||
			slices.ContainsFunc(unit.tasks, func(i int) bool { return c.paired[c.list[i].vm] }) {
			continue
		}
		if some := c.company(unit.tasks); len(some) > 0 {
			c.secede(u, some)
			return true
		}
	}
	return false
}

// secede makes a unit of its own of some tasks and starts it. It takes some time: what
// happens to a gang in one instant is one move.
func (c *schedule) secede(u int, some []int) {
	v := c.addUnit(unit{tasks: some, held: true, waiting: true})
	c.list[some[0]].takes = max(1, c.list[some[0]].takes)
	for _, i := range some {
		c.units[u].tasks = without(c.units[u].tasks, i)
		c.list[i].unit = v
	}
	c.enlist(v)
	c.pace(v) // nothing else is under way
	c.start(v)
}

// worth is what can be said for a detour.
type worth struct {
	helps int // 2: something can start then; 1: something waits for it at least
	takes repack.Ticks
}

// better prefers what helps more, then what is shorter.
func (a worth) better(b worth) bool {
	if a.helps != b.helps {
		return a.helps > b.helps
	}
	return a.takes < b.takes
}

// chance changes what a detour seems to take, when there is luck.
func (c *schedule) chance(takes repack.Ticks) repack.Ticks {
	if c.luck == nil {
		return takes
	}
	return repack.Ticks(float64(takes) * (0.25 + c.luck.Float64()))
}

// hop is a VM and the pivot to which it goes.
type hop struct {
	vm, pivot int
	worth
}

// bestHop is the shortest detour after which something can start.
func (c *schedule) bestHop() (best hop, ok bool) {
	try := func(vm int, takes repack.Ticks) {
		h := hop{vm: vm, worth: worth{c.helps(vm), c.chance(takes)}}
		if h.helps == 0 || ok && !h.better(best.worth) {
			return
		}
		if h.pivot = c.pivot(vm); h.pivot != repack.Nowhere {
			best, ok = h, true
		}
	}
	for vm := range c.where {
		n, i := c.where[vm][0], c.taskOf[vm]
		switch {
		case n == repack.Nowhere || c.where[vm][1] != repack.Nowhere || len(c.queue[n]) == 0:
		case c.rooted[vm] || c.in.VMs[vm].State != repack.Running || !c.mayStray(vm):
		case i < 0: // one that stays is disturbed for good reason only
			if c.helps(vm) == 2 {
				try(vm, 2*c.soonest(vm, repack.Migrate))
			}
		case c.list[i].kind == repack.Migrate && !c.list[i].started && len(c.units[c.list[i].unit].tasks) == 1:
			try(vm, c.soonest(vm, repack.Migrate))
		}
	}
	return best, ok
}

// mayStray reports whether a VM may take a detour of its own: its gang need not be
// paused for it, and is not.
func (c *schedule) mayStray(vm int) bool {
	g := c.gang[vm]
	return !c.paired[vm] && c.strayed[vm] < mostHops && c.spared(vm) && (g < 0 || !c.in.VMs[vm].Paused && !c.crew[g].paused)
}

// helps tells what the room is good for that VMs leave: 2 if something else can
// start then, 1 if something waits for it at all.
func (c *schedule) helps(vms ...int) (most int) {
	for _, vm := range vms {
		c.giveBack(vm, c.where[vm][0], 1)
	}
	for _, vm := range vms {
		for _, u := range c.queue[c.where[vm][0]] {
			if !c.units[u].waiting || len(vms) == 1 && c.list[c.units[u].tasks[0]].vm == vm {
				continue
			}
			if c.haveRoom(c.units[u].tasks) { // a gang that naps makes room for itself as well
				most = 2
			}
			most = max(most, 1)
		}
	}
	for _, vm := range vms {
		c.giveBack(vm, c.where[vm][0], -1)
	}
	return most
}

// pivot is the node that can take the VM for a while and is waited for least.
func (c *schedule) pivot(vm int) int {
	best, least := repack.Nowhere, 0
	to := repack.Nowhere
	if i := c.taskOf[vm]; i >= 0 {
		to = c.list[i].to
	}
	c.passing[vm].eachOutside(len(c.in.Nodes), func(n int) {
		if n == c.where[vm][0] || n == to || !c.on[n] || c.in.Nodes[n].Want == repack.Offline || best != repack.Nowhere && len(c.queue[n]) >= least {
			return
		}
		if c.hasRoom(vm, n) && c.mayPass(vm, n) && c.eye.admits(vm, n) && c.passes(vm, n) {
			best, least = n, len(c.queue[n])
		}
	})
	return best
}

// hop sends a VM to its pivot, and from there to where it shall be.
func (c *schedule) hop(h hop) {
	c.strayed[h.vm]++
	c.reclaim(h.vm)
	from := c.where[h.vm][0]
	there := c.idle(h.vm, repack.Migrate, from, h.pivot)
	u := c.addUnit(unit{})
	c.addTask(u, task{vm: h.vm, kind: repack.Migrate, from: from, to: h.pivot, takes: there})
	on := c.idle(h.vm, repack.Migrate, h.pivot, c.goal(h.vm))
	v := c.addUnit(unit{key: c.urgency(h.vm, on)})
	c.follow(h.vm, v, task{vm: h.vm, kind: repack.Migrate, from: h.pivot, to: c.goal(h.vm), takes: on})
	c.units[u].waiting = true
	c.enlist(u)
	c.enlist(v)
	c.pace(u) // nothing else is under way
	c.start(u)
}

// bestNap is the VMs, one or a gang, that are quickest to suspend and resume, if
// that helps.
func (c *schedule) bestNap() (best []int, most worth) {
	seen := make([]bool, len(c.in.Gangs))
	for vm := range c.in.VMs {
		vms := []int{vm}
		if g := c.gang[vm]; g >= 0 {
			if seen[g] {
				continue
			}
			seen[g] = true
			if vms = c.running(c.in.Gangs[g]); c.crew[g].active > 0 {
				continue
			}
		}
		takes, ok := c.napTime(vms)
		if !ok {
			continue
		}
		w := worth{c.helps(vms...), c.chance(takes * repack.Ticks(len(vms)))}
		if w.helps > 0 && !most.better(w) { // of equals the last, which is often the least important
			best, most = vms, w
		}
	}
	return best, most
}

// running are the VMs of a gang that run and shall go on; none if some come or go
// meanwhile, as a gang is paused as a whole.
func (c *schedule) running(vms []int) (list []int) {
	for _, vm := range vms {
		switch v := &c.in.VMs[vm]; {
		case v.Keeps():
			list = append(list, vm)
		case v.State == repack.Running || v.Want == repack.Running:
			return nil
		}
	}
	return list
}

// napTime is how long it takes to suspend and resume the VMs, if that can be begun.
func (c *schedule) napTime(vms []int) (most repack.Ticks, ok bool) {
	for _, vm := range vms {
		v, i := &c.in.VMs[vm], c.taskOf[vm]
		if !v.Keeps() || !v.Sleepable || c.rooted[vm] || c.strayed[vm] > 0 || c.where[vm][0] == repack.Nowhere || c.where[vm][1] != repack.Nowhere ||
			i >= 0 && !c.list[i].started && c.units[c.list[i].unit].after > 0 {
			return 0, false
		}
		if i >= 0 && c.list[i].started && c.list[i].end > c.clock {
			return 0, false
		}
		most = max(most, v.Takes.Suspend+c.soonest(vm, repack.Resume))
	}
	return most, len(vms) > 0 && c.spared(vms...)
}

// nap suspends VMs together, to be resumed together where they shall be.
func (c *schedule) nap(vms []int) {
	u, v := c.addUnit(unit{held: true}), c.addUnit(unit{})
	for _, vm := range vms {
		c.strayed[vm]++
		c.reclaim(vm)
		takes := &c.in.VMs[vm].Takes
		from, to := c.where[vm][0], c.goal(vm)
		resume := c.idle(vm, repack.Resume, from, to)
		c.units[v].key += c.urgency(vm, takes.Migrate)
		c.addTask(u, task{vm: vm, kind: repack.Suspend, from: from, to: repack.Nowhere, takes: takes.Suspend})
		c.follow(vm, v, task{vm: vm, kind: repack.Resume, from: from, to: to, takes: resume})
		c.image[from]++
	}
	c.units[u].waiting = true
	c.enlist(u)
	c.enlist(v)
	c.start(u)
}

// goal is where the VM shall be at the end.
func (c *schedule) goal(vm int) int {
	if i := c.taskOf[vm]; i >= 0 && !c.list[i].started {
		return c.list[i].to
	}
	return c.where[vm][0]
}

func (c *schedule) addUnit(u unit) int {
	c.units = append(c.units, u)
	c.left++
	return len(c.units) - 1
}

// addTask adds the task that the VM does next.
func (c *schedule) addTask(u int, t task) {
	t.unit, t.then = u, -1
	c.units[u].tasks = append(c.units[u].tasks, len(c.list))
	c.list = append(c.list, t)
}

// follow has the VM do a task of a unit after the one that was added last. It takes
// the place of the task for which the VM waited, if there is one.
func (c *schedule) follow(vm, u int, t task) {
	before := len(c.list) - 1
	i := c.taskOf[vm]
	if i >= 0 && !c.list[i].started {
		c.withdraw(i)
		t.unit, t.then = u, -1
		c.list[i] = t
		c.units[u].tasks = append(c.units[u].tasks, i)
	} else {
		i = len(c.list)
		c.addTask(u, t)
	}
	c.list[before].then = i
	c.units[u].after++
	c.taskOf[vm] = before
}

// withdraw takes a task out of the unit in which it waits.
func (c *schedule) withdraw(i int) {
	u := &c.units[c.list[i].unit]
	u.tasks = without(u.tasks, i)
	if len(u.tasks) == 0 && u.waiting {
		u.waiting = false
		c.left--
	}
}

// astray reports whether the schedule takes detours, or is stuck.
func (c *schedule) astray() bool { return c.left > 0 || c.detours > 0 }

// passes reports whether a VM that takes a detour through a pivot gets there and away.
func (c *schedule) passes(vm, pivot int) bool {
	return max(c.idle(vm, repack.Migrate, c.where[vm][0], pivot), c.idle(vm, repack.Migrate, pivot, c.goal(vm))) < repack.Forever
}
