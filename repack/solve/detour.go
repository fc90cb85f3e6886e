package solve

import (
	"vjob/repack"
)

// detour breaks a circle of units that wait for each other: a VM goes to a third
// node, a pivot, until its place is free (thesis §8.2); or if no node has the room
// for that, it sleeps for a while. The VM is one that waits itself, or one that
// stays and will come back. False: there is no way.
func (c *schedule) detour() bool {
	if c.hops <= 0 {
		return false
	}
	c.hops--
	if d, ok := c.bestHop(); ok {
		c.hop(d)
		return true
	}
	if vm, ok := c.bestNap(); ok {
		c.nap(vm)
		return true
	}
	return false
}

// hop is a VM and the pivot to which it goes.
type hop struct {
	vm, pivot int
	takes     repack.Ticks
	helps     int // 2: something can start once the VM has left; 1: something can later
}

// better prefers what helps more, then what is shorter.
func (a hop) better(b hop) bool {
	if a.helps != b.helps {
		return a.helps > b.helps
	}
	return a.takes < b.takes
}

// bestHop is the shortest detour after which something can start.
func (c *schedule) bestHop() (best hop, ok bool) {
	try := func(vm int, takes repack.Ticks) {
		h := hop{vm: vm, takes: takes, helps: c.helps(vm)}
		if h.helps == 0 || ok && !h.better(best) {
			return
		}
		if h.pivot = c.pivot(vm); h.pivot != repack.Nowhere {
			best, ok = h, true
		}
	}
	for n := range c.queue {
		if len(c.queue[n]) == 0 {
			continue
		}
		for _, vm := range c.on0(n) {
			i := c.taskOf[vm]
			switch {
			case c.rooted[vm] || c.in.VMs[vm].State != repack.Running:
			case i < 0:
				try(vm, 2*c.in.VMs[vm].Takes.Migrate)
			case c.list[i].kind == repack.Migrate && !c.list[i].started && len(c.units[c.list[i].unit].tasks) == 1:
				try(vm, c.in.VMs[vm].Takes.Migrate)
			}
		}
	}
	return best, ok
}

// on0 are the VMs that are on a node now and on no other.
func (c *schedule) on0(n int) (list []int) {
	for vm := range c.where {
		if c.where[vm][0] == n && c.where[vm][1] == repack.Nowhere {
			list = append(list, vm)
		}
	}
	return list
}

// helps tells what the room is good for that a VM leaves.
func (c *schedule) helps(vm int) int {
	n := c.where[vm][0]
	c.giveBack(vm, n, 1)
	defer c.giveBack(vm, n, -1)
	most := 0
	for _, u := range c.queue[n] {
		if !c.units[u].waiting || len(c.units[u].tasks) == 1 && c.list[c.units[u].tasks[0]].vm == vm {
			continue
		}
		if c.roomFor(u) {
			return 2
		}
		most = 1
	}
	if c.taskOf[vm] < 0 {
		return most / 2 // those that stay are disturbed for good reason only
	}
	return most
}

// roomFor reports whether a unit that waits would have room now.
func (c *schedule) roomFor(u int) bool {
	return c.haveRoom(c.units[u].tasks)
}

// giveBack changes the free room of a node by what a VM on it occupies.
func (c *schedule) giveBack(vm, n int, sign int64) {
	demand := c.now
	if c.fresh[vm] {
		demand = c.next
	}
	for d := range c.dims {
		c.free[n*c.dims+d] += sign * demand[vm*c.dims+d]
	}
}

// pivot is the node that can take the VM for a while and is waited for least.
func (c *schedule) pivot(vm int) int {
	best, least := repack.Nowhere, 0
	to := repack.Nowhere
	if i := c.taskOf[vm]; i >= 0 {
		to = c.list[i].to
	}
	for n := range c.in.Nodes {
		if n == c.where[vm][0] || n == to || !c.on[n] || c.in.Nodes[n].Want == repack.Offline || !c.mayPass(vm, n) {
			continue
		}
		if !c.hasRoom(vm, n) || !c.eye.admits(vm, n) {
			continue
		}
		if best == repack.Nowhere || len(c.queue[n]) < least {
			best, least = n, len(c.queue[n])
		}
	}
	return best
}

// hop sends a VM to its pivot, and from there to where it shall be.
func (c *schedule) hop(h hop) {
	from := c.where[h.vm][0]
	next := c.goal(h.vm, from)
	c.units[c.list[next].unit].waiting = false
	c.list[next].from = h.pivot
	u := len(c.units)
	c.units = append(c.units, unit{tasks: []int{len(c.list)}, waiting: true})
	c.list = append(c.list, task{
		vm: h.vm, kind: repack.Migrate, from: from, to: h.pivot, takes: c.in.VMs[h.vm].Takes.Migrate, unit: u, then: next,
	})
	c.left++
	c.taskOf[h.vm] = len(c.list) - 1
	c.start(u)
}

// goal is the task that brings a VM to where it shall be: the one that waits, or a
// new one that brings it back.
func (c *schedule) goal(vm, from int) int {
	if i := c.taskOf[vm]; i >= 0 {
		return i
	}
	u := len(c.units)
	c.units = append(c.units, unit{tasks: []int{len(c.list)}})
	c.list = append(c.list, task{
		vm: vm, kind: repack.Migrate, to: from, takes: c.in.VMs[vm].Takes.Migrate, unit: u, then: -1,
	})
	c.left++
	return len(c.list) - 1
}

// bestNap is the VM that is quickest to suspend and resume, if that helps.
func (c *schedule) bestNap() (best int, ok bool) {
	takes := func(vm int) repack.Ticks {
		return c.in.VMs[vm].Takes.Suspend + c.in.VMs[vm].Takes.ResumeRemote
	}
	for vm := range c.in.VMs {
		i := c.taskOf[vm]
		if !c.in.VMs[vm].Sleepable || c.where[vm][0] == repack.Nowhere || c.where[vm][1] != repack.Nowhere {
			continue
		}
		if i >= 0 && (c.list[i].kind != repack.Migrate || c.list[i].started || len(c.units[c.list[i].unit].tasks) > 1) {
			continue
		}
		if c.helps(vm) > 0 && (!ok || takes(vm) < takes(best)) {
			best, ok = vm, true
		}
	}
	return best, ok
}

// nap suspends a VM, to be resumed where it shall be.
func (c *schedule) nap(vm int) {
	from := c.where[vm][0]
	next := c.goal(vm, from)
	t := &c.list[next]
	t.kind, t.from = repack.Resume, from
	if t.takes = c.in.VMs[vm].Takes.ResumeRemote; t.to == from {
		t.takes = c.in.VMs[vm].Takes.ResumeLocal
	}
	c.units[t.unit].waiting = false
	c.image[from]++
	u := len(c.units)
	c.units = append(c.units, unit{tasks: []int{len(c.list)}, waiting: true})
	c.list = append(c.list, task{
		vm: vm, kind: repack.Suspend, from: from, to: repack.Nowhere, takes: c.in.VMs[vm].Takes.Suspend, unit: u, then: next,
	})
	c.left++
	c.taskOf[vm] = len(c.list) - 1
	c.start(u)
}
