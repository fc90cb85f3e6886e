package schedule

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
)

// exhaustive explores everything that a sequence of actions can lead to, in small problems.
// Whatever a plan does at the same time can be done in sequence in order of the ends, which
// takes no more room. So if no sequence leads to the goal, no plan exists; except for VMs that
// swap in no time.
type exhaustive struct {
	*placement.State
	seen  map[string]reached
	queue []string
}

// reached is how a state was reached: the state before, and the action.
type reached struct {
	before string
	vm     int
	kind   repack.Kind
	to     int
}

// vmState is the state of one VM: where it runs or sleeps, whether it has its next demand, and
// whether it has that because it stays.
type vmState struct {
	state repack.VMState
	node  int
	fresh bool
	stays bool
}

// MaxStates bounds the search, FewStates a quick one; maxVMs and maxNodes bound what is small.
const (
	MaxStates = 100_000
	FewStates = 5_000
	maxVMs    = 24
	maxNodes  = 40
	fewVMs    = 12 // of problems with rules on time
	fewNodes  = 8
)

// Small reports whether [Exhaustive] handles the problem. It does not handle VMs that stay and both grow
// and shrink. Where actions depend on more than what is where, it only proves that no plan exists.
func Small(m *problem.Problem) bool {
	if slices.ContainsFunc(m.In.VMs, func(v repack.VM) bool { return v.Keeps() && v.Grows() && shrinks(&v) }) {
		return false
	}
	less := slices.ContainsFunc(m.In.VMs, func(v repack.VM) bool { return v.Keeps() && shrinks(&v) })
	if less && slices.ContainsFunc(m.Watches, func(w problem.Watch) bool { return w.Nodes != nil }) {
		return false // a watch that adds up demands does not see a VM that stays and shrinks
	}
	vms, nodes := maxVMs, maxNodes
	if !sequential(m) {
		vms, nodes = fewVMs, fewNodes
	}
	return len(m.In.VMs) <= vms && len(m.In.Nodes) <= nodes
}

// sequential reports whether every sequence of actions can be carried out: no rule looks at times, nothing
// acts together, and no node has to come on first.
func sequential(m *problem.Problem) bool {
	return len(m.Gates)+len(m.Deadlines)+len(m.SyncSets)+len(m.Limits)+len(m.In.Gangs) == 0 &&
		!slices.ContainsFunc(m.In.Nodes, func(n repack.Node) bool { return n.State == repack.Offline && n.Want != repack.Offline })
}

// swaps reports whether VMs may swap in one instant, which no sequence can do.
func swaps(m *problem.Problem) bool {
	quick := 0
	for vm := range m.In.VMs {
		if v := &m.In.VMs[vm]; v.Keeps() && v.Takes.Migrate == 0 {
			quick++
		}
	}
	return quick > 1
}

// shrinks reports whether the VM asks for less of some resource than it has.
func shrinks(v *repack.VM) bool {
	for d := range v.Now {
		if v.Next[d] < v.Now[d] {
			return true
		}
	}
	return false
}

// Exhaustive explores everything that can happen in a small problem, up to a number of states.
// It returns a schedule if it finds one, and whether it proved that no plan exists. It proves nothing where a
// node is over its capacity at first: there a VM may come at the instant at which another leaves.
func Exhaustive(s *placement.State, limit int) (c *Schedule, infeasible bool) {
	tasks, done := exploreAll(s, limit)
	if done && tasks != nil {
		if !sequential(s.Problem) {
			return nil, false
		}
		return scheduleOf(s, tasks), false
	}
	return nil, done && !swaps(s.Problem) && len(s.In.Overloaded()) == 0
}

// exploreAll searches all states. If it is done, it returns the tasks that lead to the goal,
// or nil if the goal is out of reach. It is not done if there are too many states.
func exploreAll(s *placement.State, most int) (list []task, done bool) {
	e := &exhaustive{State: s, seen: map[string]reached{}}
	first := make([]vmState, len(s.In.VMs))
	for vm := range first {
		v := &s.In.VMs[vm]
		first[vm] = vmState{v.State, v.Host, v.State != repack.Running || v.Steady(), false}
	}
	e.visit(encode(first), reached{})
	for i := 0; i < len(e.queue); i++ {
		key := e.queue[i]
		states := e.decode(key)
		if e.goalReached(states) {
			return e.path(key), true
		}
		e.expand(key, states)
		if len(e.seen) > most {
			return nil, false
		}
	}
	return nil, true
}

func encode(states []vmState) string {
	text := make([]byte, 0, 2*len(states))
	for _, c := range states {
		flags := byte(c.state) << 1
		if c.fresh {
			flags |= 1
		}
		if c.stays {
			flags |= 8
		}
		text = append(text, flags, byte(c.node+1))
	}
	return string(text)
}

func (e *exhaustive) decode(key string) []vmState {
	states := make([]vmState, len(key)/2)
	for i := range states {
		states[i] = vmState{repack.VMState(key[2*i] >> 1 & 3), int(key[2*i+1]) - 1, key[2*i]&1 == 1, key[2*i]&8 != 0}
	}
	return states
}

func (e *exhaustive) visit(key string, t reached) {
	if _, ok := e.seen[key]; !ok {
		e.seen[key] = t
		e.queue = append(e.queue, key)
	}
}

// goalReached reports whether a state has the wanted VM states, room for all, and no broken
// rule.
func (e *exhaustive) goalReached(states []vmState) bool {
	for vm, c := range states {
		if c.state != e.In.VMs[vm].Want {
			return false
		}
	}
	e.Record()
	defer e.RollBack(0)
	for _, vm := range e.Wanted {
		if !e.Allows(vm, states[vm].node) {
			return false
		}
		e.Move(vm, states[vm].node)
	}
	return e.Breaches == 0 && !slices.ContainsFunc(e.OpenNodes, e.Overloaded)
}

// expand reaches every state that one action leads to.
func (e *exhaustive) expand(key string, states []vmState) {
	where := make([][2]int, len(states))
	free := slices.Clone(e.Room)
	for vm, c := range states {
		where[vm] = [2]int{repack.Nowhere, repack.Nowhere}
		if c.state != repack.Running {
			continue
		}
		where[vm][0] = c.node
		demand := e.Now
		if c.fresh {
			demand = e.Next
		}
		for d := range e.Dims {
			free[c.node*e.Dims+d] -= demand[vm*e.Dims+d]
		}
	}
	eyes := NewMonitors(e.Problem, where)
	defer eyes.Close(where)
	for vm, c := range states {
		e.each(vm, c, func(kind repack.Kind, to int, after vmState) {
			arrives := to != repack.Nowhere && kind != repack.Allocate
			if arrives && (!e.mayPass(vm, to) || !eyes.Admits(vm, to) || !e.hasRoom(free, vm, to) || e.IdleDuration(vm, kind, c.node, to) == repack.Forever) {
				return
			}
			next := slices.Clone(states)
			next[vm] = after
			e.visit(encode(next), reached{key, vm, kind, to})
		})
	}
}

// mayPass reports whether the VM may be on the node for a while, which is on or may come on.
func (e *exhaustive) mayPass(vm, n int) bool {
	node := &e.In.Nodes[n]
	return (node.State == repack.Online || node.Want != repack.Offline) && !e.BannedAlways[vm].Has(n)
}

// each visits the actions that a VM could take.
func (e *exhaustive) each(vm int, c vmState, visit func(kind repack.Kind, to int, after vmState)) {
	v := &e.In.VMs[vm]
	arrive := func(kind repack.Kind) {
		for n := range e.In.Nodes {
			if n != c.node || kind != repack.Migrate {
				visit(kind, n, vmState{repack.Running, n, true, false})
			}
		}
	}
	switch {
	case c.stays:
	case c.state == repack.Running && v.Want == repack.Running:
		if !c.fresh && shrinks(v) {
			visit(repack.Allocate, c.node, vmState{repack.Running, c.node, true, true})
		}
		if !e.Rooted[vm] {
			arrive(repack.Migrate)
		}
		if e.Suspendable(v) && !e.Rooted[vm] {
			visit(repack.Suspend, repack.Nowhere, vmState{repack.Sleeping, c.node, true, false})
		}
	case c.state == repack.Running && v.Want == repack.Sleeping:
		visit(repack.Suspend, repack.Nowhere, vmState{repack.Sleeping, c.node, true, false})
	case c.state == repack.Running:
		visit(repack.Shutdown, repack.Nowhere, vmState{v.Want, repack.Nowhere, true, false})
	case v.Want == repack.Running && c.state == repack.Sleeping:
		arrive(repack.Resume)
	case v.Want == repack.Running:
		arrive(repack.Boot)
	}
}

func (e *exhaustive) hasRoom(free []int64, vm, n int) bool {
	for d := range e.Dims {
		if need := e.Next[vm*e.Dims+d]; need > 0 && need > free[n*e.Dims+d] {
			return false
		}
	}
	return true
}

// path returns the tasks that lead to a state. Each starts when the task before it of its VM has
// ended, and all before it that left its node (any node, if rules watch more than one) or share
// links or transfer slots with it.
func (e *exhaustive) path(key string) []task {
	list := []task{} // not nil, which is no path
	for t := e.seen[key]; t.before != ""; t = e.seen[t.before] {
		if t.kind == repack.Allocate {
			continue // allocated from the start
		}
		c := e.decode(t.before)[t.vm]
		takes := e.IdleDuration(t.vm, t.kind, c.node, t.to)
		rate := e.In.Transfer(t.vm, t.kind, c.node, t.to).Rate(takes)
		list = append(list, task{vm: t.vm, kind: t.kind, from: c.node, to: t.to, takes: takes, rate: rate, started: true, then: -1})
	}
	slices.Reverse(list)
	for i := range list {
		list[i].start = e.slotsFree(&list[i])
		for j := range i {
			before, t := &list[j], &list[i]
			if before.vm == t.vm || before.rate > 0 && t.rate > 0 || e.shareSlots(before, t) || before.leaves() && t.comes() && (before.from == t.to || len(e.Watches) > 0) {
				t.start = max(t.start, before.end)
			}
		}
		list[i].end = list[i].start + list[i].takes
	}
	return list
}

// shareSlots reports whether two tasks copy on one node with a limit of transfers.
func (e *exhaustive) shareSlots(a, b *task) bool {
	other := b.kind.TransferNodes(b.from, b.to)
	for _, n := range a.kind.TransferNodes(a.from, a.to) {
		if n != repack.Nowhere && e.In.Nodes[n].Transfers > 0 && slices.Contains(other[:], n) {
			return true
		}
	}
	return false
}

// slotsFree returns when no slot is taken any more that a task needs and that was taken before the
// plan.
func (e *exhaustive) slotsFree(t *task) (at repack.Ticks) {
	for _, n := range t.kind.TransferNodes(t.from, t.to) {
		if n != repack.Nowhere && e.In.Nodes[n].Transfers > 0 {
			for _, until := range e.In.Nodes[n].Busy {
				at = max(at, until)
			}
		}
	}
	return at
}

// scheduleOf returns a complete schedule of tasks with given times, and places the VMs
// accordingly.
func scheduleOf(s *placement.State, list []task) *Schedule {
	c := &Schedule{Problem: s.Problem, tasks: list}
	placeAt(s, list)
	for n := range s.In.Nodes {
		node := &s.In.Nodes[n]
		if node.State != repack.Online || node.Want != repack.Offline {
			continue
		}
		var last repack.Ticks
		for i := range list {
			if t := &list[i]; t.from == n {
				last = max(last, t.end)
			}
		}
		c.tasks = append(c.tasks, task{
			vm: repack.Nowhere, kind: repack.NodeOff, from: repack.Nowhere, to: n, start: last, end: last + s.In.NodeOff, then: -1,
		})
	}
	for i := range c.tasks {
		t := &c.tasks[i]
		c.Last = max(c.Last, t.end)
		if t.vm != repack.Nowhere {
			c.Cost += int64(t.end) * s.In.VMs[t.vm].Weight
		}
	}
	return c
}

// placeAt places all VMs where the tasks leave them.
func placeAt(s *placement.State, list []task) {
	for _, vm := range s.Wanted {
		to := s.Home[vm]
		for i := range list {
			if list[i].vm == vm && list[i].comes() {
				to = list[i].to
			}
		}
		s.Move(vm, to)
	}
}
