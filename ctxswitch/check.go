package ctxswitch

import (
	"fmt"
	"slices"

	"vjob/cluster"
)

// Check returns the faults of a plan as text; a plan without faults can be carried out as it
// stands. It shares no decision with a planner.
//
// Check trusts only the order that After prescribes, not the times in the plan: actions may
// start late and last long. What it verifies holds for every interleaving that After permits:
//
//   - every action is an edge of the life cycle of its VM (thesis figure 6.1), and
//     the actions of one VM follow each other;
//   - no node that is given something to do is over capacity at any instant, see
//     [check.room], and VMs arrive only on nodes that take VMs;
//   - no VM comes to a node that cannot run it;
//   - the rules hold by their meaning, see [check.rules];
//   - the transfers on a link never keep to more than it has, see [check.links];
//   - at the times of the plan, no node carries more transfers than it may, see [check.transfers];
//   - no power budget is exceeded, see [check.power];
//   - gangs are whole, see [check.gangs];
//   - the goals are met, VMs that are pinned or have no goal are where they were,
//     and the target is viable as far as the plan could do something about it.
func Check(p Problem, plan Plan) []string {
	c := newCheck(p, plan)
	if !c.shape() {
		return c.faults // the other checks need valid numbers
	}
	c.figures()
	c.gangs()
	c.replay()
	c.room()
	c.rules()
	c.links()
	c.transfers()
	c.power()
	c.target()
	return c.faults
}

// check is a plan under examination.
type check struct {
	p       Problem
	plan    Plan
	goal    map[cluster.VJobID]cluster.VMState
	members map[cluster.VJobID][]cluster.VMID
	rigid   map[cluster.VJobID]bool // some running member may not be migrated live
	held    map[cluster.VJobID]bool // a member that runs may not be touched
	before  []set                   // by action: those that have ended when it starts
	gangOf  []int                   // by action
	holds   []holding               // room that VMs hold in the course of the plan
	final   []situation             // by VM in order of p.Current.VMs()
	faults  []string
}

func newCheck(p Problem, plan Plan) *check {
	c := &check{
		p: p, plan: plan, goal: map[cluster.VJobID]cluster.VMState{}, members: map[cluster.VJobID][]cluster.VMID{},
		rigid: map[cluster.VJobID]bool{}, held: map[cluster.VJobID]bool{},
	}
	for _, g := range slices.Backward(p.Gangs) {
		c.goal[g.VJob] = g.Want
	}
	for _, vm := range p.Current.VMs() {
		c.members[vm.VJob] = append(c.members[vm.VJob], vm)
		if _, runs := p.Current.Host(vm); runs {
			c.rigid[vm.VJob] = c.rigid[vm.VJob] || !p.Live[vm]
		}
		if state, _ := p.Current.State(vm); onNode(state) {
			c.held[vm.VJob] = c.held[vm.VJob] || p.Pinned[vm]
		}
	}
	return c
}

// situation is the state and the place of a VM.
type situation struct {
	vm    cluster.VMID
	state cluster.VMState
	place cluster.NodeID
}

func (c *check) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// shape checks the numbers of actions and gangs, and derives the order.
func (c *check) shape() bool {
	n := len(c.plan.Actions)
	c.before = make([]set, n)
	for i, a := range c.plan.Actions {
		if a.ID != ActionID(i) {
			c.fault("action %d is at place %d", a.ID, i)
			return false
		}
		c.before[i] = newSet(n)
		for _, b := range a.After {
			if b < 0 || b >= a.ID {
				c.fault("action %d waits for %d, which does not come before it", a.ID, b)
				return false
			}
			c.before[i].add(int(b))
			c.before[i].addAll(c.before[b])
		}
	}
	c.gangOf = make([]int, n)
	seen := newSet(n)
	for g, gang := range c.plan.Gangs {
		for _, id := range gang.Actions {
			if id < 0 || int(id) >= n || seen.has(int(id)) {
				c.fault("gang %d of vjob %s: action %d does not exist or is in two gangs", g, gang.VJob, id)
				return false
			}
			seen.add(int(id))
			c.gangOf[id] = g
		}
	}
	for i := range n {
		if !seen.has(i) {
			c.fault("action %d is in no gang", i)
			return false
		}
	}
	return true
}

// figures checks estimates and costs.
func (c *check) figures() {
	var last Action
	for _, a := range c.plan.Actions {
		for _, b := range a.After {
			if before := c.plan.Actions[b]; a.Start < before.End {
				c.fault("action %d is to start at %s, before %d ends at %s", a.ID, a.Start, b, before.End)
			}
		}
		memory, remote := c.count(a.VM).Memory, a.From != "" && a.From != a.To
		if want := max(c.p.Costs.Duration(a.Kind, memory, a.From, a.To), c.sends(a)); a.End-a.Start != want {
			c.fault("action %d is to last %s instead of %s", a.ID, a.End-a.Start, want)
		}
		if want := localCost(a.Kind, memory, remote); a.Cost != want {
			c.fault("action %d costs %d MiB instead of %d", a.ID, a.Cost, want)
		}
		if a.End > last.End {
			last = a
		}
	}
	if c.plan.Makespan != last.End {
		c.fault("the plan is to last %s, its last action ends at %s", c.plan.Makespan, last.End)
	}
	if want := planCost(c.plan.Actions); c.plan.Cost != want {
		c.fault("the plan costs %d MiB instead of %d", c.plan.Cost, want)
	}
}

// count is the demand of a VM while it is on a node, see [Problem.Next].
func (c *check) count(vm cluster.VMID) cluster.Resources {
	now := c.p.Current.Need(vm)
	next, changes := c.p.Next[vm]
	state, _ := c.p.Current.State(vm)
	there := onNode(state)
	switch {
	case !changes || there && c.mayTouch(vm) && c.goal[vm.VJob] != cluster.VMRunning:
		return now
	case state == cluster.VMPaused && !c.mayTouch(vm):
		return now
	case there:
		return cluster.Resources{CPU: max(now.CPU, next.CPU), Memory: max(now.Memory, next.Memory)}
	default:
		return next
	}
}

func (c *check) mayTouch(vm cluster.VMID) bool {
	_, goal := c.goal[vm.VJob]
	return goal && !c.p.Pinned[vm]
}

// replay follows every VM through the plan and records the room that it holds: from the start of
// which action to the end of which others.
func (c *check) replay() {
	byVM := map[cluster.VMID][]Action{}
	for _, a := range c.plan.Actions {
		if _, known := c.p.Current.State(a.VM); !known {
			c.fault("action %d: there is no VM %s", a.ID, a.VM)
			continue
		}
		byVM[a.VM] = append(byVM[a.VM], a)
	}
	for _, vm := range c.p.Current.VMs() {
		state, _ := c.p.Current.State(vm)
		at := situation{vm, state, c.p.Current.Place(vm)}
		l := occupancy{check: c, vm: vm}
		l.arrive(at, -1)
		for i, a := range byVM[vm] {
			if i > 0 && !c.before[a.ID].has(int(byVM[vm][i-1].ID)) {
				c.fault("action %d on VM %s does not wait for %d on the same VM", a.ID, vm, byVM[vm][i-1].ID)
			}
			at = c.step(at, a)
			l.act(a, at)
		}
		l.leave(nil)
		c.final = append(c.final, at)
	}
}

// release returns the actions after which the room that an action leaves is free. A gang that is
// paused, or saved or moved while it is paused, frees its room as a whole: until then it may have
// to go back as a whole (as in the scenario 07_saving_disk_full).
func (c *check) release(a Action) []ActionID {
	if a.Kind == cluster.Suspend || a.Kind == cluster.Pause || a.Kind == cluster.Migrate && !a.Live {
		return c.plan.Gangs[c.gangOf[a.ID]].Actions
	}
	return []ActionID{a.ID}
}

// step checks one action against the situation of its VM, and returns the situation after it.
func (c *check) step(at situation, a Action) situation {
	next, legal := at.state.After(a.Kind)
	if !legal {
		c.fault("action %d: VM %s is %s, one cannot %s it", a.ID, a.VM, at.state, a.Kind)
		return at
	}
	if !c.mayTouch(a.VM) {
		c.fault("action %d touches VM %s, which is pinned or has no goal", a.ID, a.VM)
	}
	if a.From != at.place {
		c.fault("action %d takes VM %s from %q, it is on %q", a.ID, a.VM, a.From, at.place)
	}
	switch a.Kind {
	case cluster.Stop, cluster.Suspend:
		if a.To != "" {
			c.fault("action %d: %s leads to no node, not to %s", a.ID, a.Kind, a.To)
		}
		return situation{at.vm, next, at.place}
	case cluster.Pause, cluster.Unpause:
		if a.To != a.From {
			c.fault("action %d: VM %s can %s where it is, not on %q", a.ID, a.VM, a.Kind, a.To)
		}
		if a.Kind == cluster.Pause {
			return situation{at.vm, next, at.place}
		}
	default: // the others lead to a node
	}
	if a.Kind == cluster.Migrate && a.To == a.From {
		c.fault("action %d moves VM %s to where it is", a.ID, a.VM)
	}
	if n, known := c.p.Current.Node(a.To); !known || !n.Hosts() {
		c.fault("action %d: node %q takes no VMs", a.ID, a.To)
		return at
	}
	if a.To != at.place && slices.Contains(c.p.Incompatible[a.VM], a.To) {
		c.fault("action %d: node %s cannot run VM %s", a.ID, a.To, a.VM)
	}
	return situation{at.vm, next, a.To}
}

// set is a set of actions.
type set []uint64

func newSet(n int) set       { return make(set, (n+63)/64) }
func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }
func (s set) addAll(o set) {
	for i := range o {
		s[i] |= o[i]
	}
}

// hasAll reports whether all these actions are in the set.
func (s set) hasAll(ids []ActionID) bool {
	for _, id := range ids {
		if !s.has(int(id)) {
			return false
		}
	}
	return true
}
