package solve

import (
	"cmp"
	"container/heap"
	"math/rand/v2"
	"slices"

	"vjob/repack"
)

// schedule carries a placement out in time: a unit of tasks starts in the first
// instant in which there is room for it, and of what waits for the same room the
// smaller key goes first. It is equation (1), followed event by event.
type schedule struct {
	*model
	list    []task
	units   []unit
	clock   repack.Ticks
	free    []int64 // of each node, now
	queue   [][]int // units that wait for room on each node, by key
	ends    ends
	left    int    // units that have not started, and nodes that are to come on
	on      []bool // nodes that take VMs now
	stays   []int  // VMs on each node now
	image   []int  // images on each node that are still to be resumed
	offAt   []repack.Ticks
	power   power
	traffic *traffic // nil: there is no network
	where   [][2]int // the nodes that each VM is on: where it is, where it is on its way to
	fresh   []bool   // VMs that occupy where they are with their next demand
	low     []int64  // the least free room of each node since VMs that stay have shrunk; nil: none has
	lit     []int    // how many nodes of each limit are on, or on their way there or from there
	dark    []int    // nodes that are still to come on
	taskOf  []int    // the task of each VM that is next or under way; -1
	eye     *eyes
	luck    *rand.Rand
	patient bool // what only takes room goes last
	detours int
	begun   int    // tasks that have started
	crew    []crew // what each gang is doing
	strayed []int  // detours of each VM
	stir    []int  // nodes on which something has changed
	stirs   []bool

	cost int64 // equation (2)
	last repack.Ticks
}

// mostHops bounds how many detours a VM may take.
const mostHops = 3

// newSchedule follows the placement. With luck, who goes first and who takes a detour
// is partly chance; nil takes the best in sight. The result is complete if left is 0; else it
// is stuck.
func newSchedule(s *state, luck *rand.Rand) *schedule { return follow(s, luck, false) }

// newPatient follows the placement so that what only takes room, as boots and
// resumes do, waits for all that gives some back (thesis §8.1.2).
func newPatient(s *state, luck *rand.Rand) *schedule { return follow(s, luck, true) }

func follow(s *state, luck *rand.Rand, patient bool) *schedule {
	c := &schedule{model: s.model, list: tasksOf(s), luck: luck, patient: patient}
	c.units = unitsOf(s.model, c.list)
	for u := range c.units {
		c.units[u].key = int64(c.chance(repack.Ticks(c.units[u].key)))
	}
	c.power = s.powers()
	c.open(s.at)
	c.run()
	c.eye.close(c.where)
	return c
}

// open sets the scene: what is where before the first instant.
func (c *schedule) open(to []int) {
	nodes := len(c.in.Nodes)
	c.free = slices.Clone(c.room)
	c.queue, c.on = make([][]int, nodes), make([]bool, nodes)
	c.stays, c.image = make([]int, nodes), make([]int, nodes)
	c.offAt, c.stirs = make([]repack.Ticks, nodes), make([]bool, nodes)
	c.where = make([][2]int, len(c.in.VMs))
	c.fresh, c.taskOf = make([]bool, len(c.in.VMs)), make([]int, len(c.in.VMs))
	c.crew = make([]crew, len(c.in.Gangs))
	for u := range c.units {
		c.enlist(u)
	}
	c.left, c.strayed = len(c.units), make([]int, len(c.in.VMs))
	c.ends.list = &c.list
	for n := range nodes {
		c.on[n], c.offAt[n] = c.in.Nodes[n].State == repack.Online, repack.Forever
	}
	for vm := range c.in.VMs {
		v := &c.in.VMs[vm]
		c.where[vm], c.taskOf[vm] = [2]int{repack.Nowhere, repack.Nowhere}, -1
		if v.State != repack.Running {
			continue
		}
		c.where[vm][0] = v.Host
		c.stays[v.Host]++
		for d := range c.dims {
			c.free[v.Host*c.dims+d] -= c.now[vm*c.dims+d]
		}
	}
	c.eye, c.traffic = watchful(c.model, c.where), c.newTraffic()
	for i := range c.gates {
		c.gates[i].Begin(to)
	}
	for i := range c.list {
		c.taskOf[c.list[i].vm] = i
		if c.list[i].kind == repack.Resume {
			c.image[c.list[i].from]++
		}
	}
}

// run starts what can start, and goes from end to end until nothing is left or
// everything waits for something else.
func (c *schedule) run() {
	c.shrink()
	for u := range c.units {
		for _, i := range c.units[u].tasks {
			if to := c.list[i].to; c.list[i].comes() {
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
		c.stirUp(n)
	}
	c.powerUp()
	c.settle()
	for {
		for c.ends.Len() > 0 {
			c.step()
		}
		if c.left == 0 || c.aborted() || !c.detour() {
			return
		}
	}
}

// inTime reports whether every action starts and ends by when it is due.
func (c *schedule) inTime() bool {
	for i := range c.list {
		t := &c.list[i]
		d, ok := c.due[t.vm]
		if ok && t.vm != repack.Nowhere && (t.start > d.start || t.end > d.end) {
			return false
		}
	}
	return true
}

// firstTurns is the order in which units are looked at in the first instant: with a
// network by key, as they may share links even where they share no queue.
func (c *schedule) firstTurns() []int {
	order := make([]int, len(c.units))
	for u := range order {
		order[u] = u
	}
	if c.traffic != nil {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.units[a].key, c.units[b].key) })
	}
	return order
}

// contested reports whether the unit shares a queue, in which its turn may be
// another's.
func (c *schedule) contested(u int) bool {
	for _, i := range c.units[u].tasks {
		if to := c.list[i].to; to != repack.Nowhere && len(c.queue[to]) > 1 {
			return true
		}
	}
	return false
}

func (c *schedule) sortQueue(n int) {
	if len(c.queue[n]) > 1 {
		slices.SortStableFunc(c.queue[n], func(a, b int) int { return cmp.Compare(c.units[a].key, c.units[b].key) })
	}
}

// step ends all tasks of the next instant in which one does, and starts what that
// makes room for.
func (c *schedule) step() {
	c.clock = c.list[c.ends.order[0]].end
	for c.ends.Len() > 0 && c.list[c.ends.order[0]].end == c.clock {
		c.end(heap.Pop(&c.ends).(int))
	}
	c.settle()
}

// settle starts units until nothing more can start in this instant.
func (c *schedule) settle() {
	if c.patient && !c.giversWait() {
		c.patient = false
		for n := range c.queue {
			c.stirUp(n)
		}
	}
	for len(c.stir) > 0 {
		n := c.stir[len(c.stir)-1]
		c.stir = c.stir[:len(c.stir)-1]
		c.stirs[n] = false
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
	if c.traffic != nil {
		c.flow()
	}
}

// gives reports whether a unit gives room back somewhere.
func (c *schedule) gives(u int) bool {
	return slices.ContainsFunc(c.units[u].tasks, func(i int) bool { return c.list[i].leaves() })
}

// giversWait reports whether something that gives room back has not begun.
func (c *schedule) giversWait() bool {
	for u := range c.units {
		if (c.units[u].waiting || c.units[u].after > 0) && c.gives(u) {
			return true
		}
	}
	return false
}

// stirUp has the queue of a node looked at again.
func (c *schedule) stirUp(n int) {
	if !c.stirs[n] && len(c.queue[n]) > 0 {
		c.stirs[n], c.stir = true, append(c.stir, n)
	}
}

// number notes in which order tasks start.
func (c *schedule) number(t *task) {
	c.begun++
	t.number = c.begun
}

// start starts all tasks of a unit now.
func (c *schedule) start(u int) {
	unit := &c.units[u]
	var longest repack.Ticks
	for _, i := range unit.tasks {
		longest = max(longest, c.list[i].takes)
	}
	unit.waiting = false
	c.left--
	c.goToWork(u)
	for _, i := range unit.tasks {
		t := &c.list[i]
		t.started, t.start, t.end = true, c.clock, c.clock+t.takes
		c.number(t)
		if unit.atEnd {
			t.start, t.end = c.clock+longest-t.takes, c.clock+longest
		}
		if unit.atStart {
			t.start = c.clock
		}
		c.last = max(c.last, t.end)
		c.cost += int64(t.end) * c.in.VMs[t.vm].Weight
		if t.comes() {
			c.occupy(t.vm, t.to, -1)
			c.ebb(t.to)
			c.arrive(t.vm, t.to)
		}
		for _, g := range c.gatesOf[t.vm] {
			c.gates[g].Started(t.vm, t.kind, c.clock)
		}
		c.send(t, 1)
		heap.Push(&c.ends, i)
	}
}

func (c *schedule) arrive(vm, node int) {
	c.where[vm][1] = node
	c.stays[node]++
	c.eye.come(vm, node)
}

// end ends a task: its VM has left the node that it came from.
func (c *schedule) end(i int) {
	t := &c.list[i]
	if t.kind.OnNode() {
		c.switched(t)
		return
	}
	c.send(t, -1)
	for _, g := range c.gatesOf[t.vm] {
		c.gates[g].Ended(t.vm, t.kind, c.clock)
		for _, vm := range c.gates[g].vms {
			c.wake(vm)
		}
	}
	switch {
	case t.kind == repack.Resume:
		c.image[t.from]--
		c.settleIn(t)
		c.empty(t.from)
	case t.leaves() && t.unit >= 0 && c.units[t.unit].held:
		c.leaveTogether(t.unit)
	case t.leaves():
		c.leave(t)
	default:
		c.settleIn(t)
	}
	c.rest(i)
	if t.then >= 0 {
		c.queueUp(t.then)
	}
}

// wake has the unit of a VM looked at again that a gate may have held back.
func (c *schedule) wake(vm int) {
	i := c.taskOf[vm]
	if i < 0 || c.list[i].started {
		return
	}
	if t := &c.list[i]; t.comes() {
		c.stirUp(t.to)
	} else if c.units[t.unit].waiting && c.admits(t.unit) {
		c.start(t.unit)
	}
}

// settleIn has a VM that came from no node be where it was on its way to.
func (c *schedule) settleIn(t *task) {
	c.where[t.vm], c.fresh[t.vm] = [2]int{t.to, repack.Nowhere}, true
}

// leaveTogether frees what a gang leaves once its last member is done.
func (c *schedule) leaveTogether(u int) {
	for _, i := range c.units[u].tasks {
		if t := &c.list[i]; t.end > c.clock || c.ends.holds(i) {
			return
		}
	}
	for _, i := range c.units[u].tasks {
		if t := &c.list[i]; t.leaves() && c.where[t.vm][0] == t.from {
			c.leave(t)
		}
	}
}

// leave frees what a VM occupied on the node that it has left.
func (c *schedule) leave(t *task) {
	demand := c.now
	if c.fresh[t.vm] {
		demand = c.next
	}
	for d := range c.dims {
		c.free[t.from*c.dims+d] += demand[t.vm*c.dims+d]
	}
	c.fresh[t.vm] = t.comes()
	c.where[t.vm] = [2]int{t.to, repack.Nowhere}
	c.stays[t.from]--
	c.stirUp(t.from)
	c.eye.leave(t.vm, t.from, c.stirUp, c.wake)
	c.empty(t.from)
}

// queueUp lets the unit of a task that follows another wait for its room, once all
// that its tasks follow have ended.
func (c *schedule) queueUp(i int) {
	u := &c.units[c.list[i].unit]
	c.taskOf[c.list[i].vm] = i
	if u.after--; u.after > 0 {
		return
	}
	u.waiting = true
	for _, i := range u.tasks {
		to := c.list[i].to
		c.queue[to] = append(c.queue[to], c.list[i].unit)
		c.sortQueue(to)
		c.stirUp(to)
	}
}
