package ctxswitch

import (
	"math/rand/v2"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/placement"
	"vjob/repack"
)

// Breaches says which rules are broken as things stand, by VMs that a plan could
// move.
func Breaches(p Problem) []string {
	if len(p.Rules) == 0 {
		return nil
	}
	c := newCheck(p, Plan{})
	return append(c.rules(), c.faults...)
}

// lateness is the number of executions of a plan that are checked; in all but one of them gangs
// are late.
const lateness = 3

// rules checks the rules by their meaning, which planners do not use: with the times of the plan,
// and with gangs as late as it permits. Breaches by VMs that may not be touched, which no plan
// could mend, are no faults.
//
// It returns the texts that no longer compile.
func (c *check) rules() (unread []string) {
	if len(c.p.Rules) == 0 {
		return nil
	}
	g := c.builder()
	if err := g.rules(c.p.Rules); err != nil {
		c.fault("%s", err)
		return nil
	}
	ways := lateness
	if c.plan.Empty() {
		ways = 1
	}
	for late := range ways {
		t, _ := repack.Trace(&g.in, c.timed(g, uint64(late)))
		for i, text := range g.statedRules {
			if c.plan.gives(text) {
				continue
			}
			for _, b := range g.breaches(i, t) {
				c.fault("%s is broken: %s", text, b.Text)
			}
		}
	}
	return g.unread
}

// builder returns the instance without goals: where all VMs are.
func (c *check) builder() *instanceBuilder {
	g := newInstanceBuilder(c.p.Current, c.p.Nodes.or(c.p.Current), c.p.Claims, 0)
	for _, vm := range c.p.Current.VMs() {
		if !c.concerned(vm) {
			continue
		}
		need := c.count(vm)
		if c.rests(vm) {
			need = need.Paused()
		}
		demand := g.demand(need)
		v := repack.VM{
			Name: vm.String(), Host: g.indexOf(c.p.Current.Place(vm)), Weight: 1, Now: demand, Next: demand,
			Stays: !c.couldMove(vm) && !c.leaves(vm), Paused: !c.p.Live[vm],
		}
		switch state, _ := c.p.Current.State(vm); state {
		case cluster.VMRunning, cluster.VMPaused:
			v.State, v.Want = repack.Running, repack.Running
		case cluster.VMSleeping:
			v.State = repack.Sleeping
		default: // it is nowhere
		}
		g.addVM(vm, v)
	}
	g.gangs()
	return g
}

// leaves reports whether a VM is to end or to be saved: it is not among those that break
// rules for good where they are.
func (c *check) leaves(vm cluster.VMID) bool {
	want := c.goal[vm.VJob]
	return c.mayTouch(vm) && (want == cluster.VMTerminated || want == cluster.VMSleeping)
}

// rests reports whether a VM stands still at the end, or until it leaves.
func (c *check) rests(vm cluster.VMID) bool {
	state, _ := c.p.Current.State(vm)
	if !c.mayTouch(vm) {
		return state == cluster.VMPaused
	}
	want := c.goal[vm.VJob]
	return onNode(state) && want == cluster.VMPaused || state == cluster.VMPaused && want != cluster.VMRunning
}

// concerned reports whether a VM is on a node, or a plan has to do with it. Of others rules say
// nothing.
func (c *check) concerned(vm cluster.VMID) bool {
	state, _ := c.p.Current.State(vm)
	switch want := c.goal[vm.VJob]; {
	case onNode(state):
		return true
	case !c.mayTouch(vm) || state == cluster.VMTerminated:
		return false
	default:
		return want == cluster.VMRunning || want == cluster.VMTerminated && state == cluster.VMSleeping
	}
}

// timed is the plan with the times of its actions: its own, or drawn, each gang as
// late as it happens.
func (c *check) timed(g *instanceBuilder, late uint64) *repack.Plan {
	rng := rand.New(rand.NewPCG(late, 1))
	delay := make([]repack.Ticks, len(c.plan.Gangs))
	for i := range delay {
		if late > 0 {
			delay[i] = repack.Ticks(rng.Int64N(int64(c.plan.Makespan/placement.Tick) + 1))
		}
	}
	plan := &repack.Plan{}
	ends := make([]repack.Ticks, len(c.plan.Actions))
	for i, a := range c.plan.Actions {
		out := repack.Action{
			Kind: kindOf[a.Kind], VM: g.numberOf(a.VM), From: g.indexOf(a.From), To: g.indexOf(a.To), Rate: perTick(a.Rate),
			Start: ticks(c.gangStart(a)), End: ticks(a.End), // rounded alike: what begins at an end does not overlap
		}
		if late > 0 {
			takes := out.End - out.Start
			out.Start = delay[c.gangOf[a.ID]]
			for _, b := range a.After {
				out.Start = max(out.Start, ends[b]+delay[c.gangOf[a.ID]])
			}
			out.End = out.Start + takes
		}
		ends[i] = out.End
		if a.Kind == cluster.Pause || a.Kind == cluster.Unpause {
			continue // no VM comes or goes
		}
		if a.Kind == cluster.Stop && g.in.VMs[out.VM].State != repack.Running {
			continue // an image is deleted
		}
		plan.Actions = append(plan.Actions, out)
	}
	return plan
}

// ticks is a time in whole ticks, rounded up.
func ticks(t time.Duration) repack.Ticks {
	return repack.Ticks((t + placement.Tick - time.Nanosecond) / placement.Tick)
}

// gangStart is when an action begins with its gang: it may wait for a transfer slot after that.
func (c *check) gangStart(a Action) time.Duration {
	if a.Kind != cluster.Suspend && a.Kind != cluster.Resume && (a.Kind != cluster.Migrate || a.Live) {
		return a.Start
	}
	start := a.Start
	for _, id := range c.plan.Gangs[c.gangOf[a.ID]].Actions {
		start = min(start, c.plan.Actions[id].Start)
	}
	return start
}
