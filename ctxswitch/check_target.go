package ctxswitch

import (
	"vjob/cluster"
)

// target checks where the plan leads.
func (c *check) target() {
	end := c.p.Current.Clone()
	for _, at := range c.final {
		need := c.p.Current.Need(at.vm)
		if next, ok := c.p.Next[at.vm]; ok {
			need = next
		}
		switch at.state {
		case cluster.VMRunning:
			end.SetRunning(at.vm, need, at.place)
		case cluster.VMPaused:
			end.SetPaused(at.vm, c.p.Current.Need(at.vm), at.place)
		case cluster.VMSleeping:
			end.SetSleeping(at.vm, c.p.Current.Need(at.vm), at.place)
		case cluster.VMTerminated:
			end.Remove(at.vm)
		case cluster.VMWaiting: // as it was
		}
		c.reached(at)
	}
	if c.plan.Target == nil || !c.plan.Target.Same(end) {
		c.fault("the plan leads to another configuration than it says:\n%s", end)
	}
	c.viable(end)
}

// reached checks the goal of one VM.
func (c *check) reached(at situation) {
	if !c.mayTouch(at.vm) {
		return
	}
	start, _ := c.p.Current.State(at.vm)
	want := c.goal[at.vm.VJob]
	unborn := start == cluster.VMWaiting && at.state == start && want != cluster.VMRunning ||
		start == cluster.VMSleeping && at.state == start && want == cluster.VMPaused
	if at.state != want && !unborn && start != cluster.VMTerminated {
		c.fault("VM %s is to be %s, the plan leaves it %s", at.vm, want, at.state)
	}
	if to, sent := c.p.Places[at.vm]; sent && at.state == cluster.VMRunning && at.place != to {
		c.fault("VM %s is to be on node %s, the plan leaves it on %s", at.vm, to, at.place)
	}
}

// viable checks what the plan answers for: a VM that it might have placed
// elsewhere must not be on a node that is overloaded or off.
// A draining node may keep what it has.
func (c *check) viable(end *cluster.Configuration) {
	for _, n := range end.Nodes() {
		on := end.On(n.ID)
		free := n.Capacity.Minus(c.p.Claims[n.ID]).Minus(end.Used(n.ID))
		for _, vm := range on {
			if !c.couldMove(vm) {
				continue
			}
			if need := end.Need(vm); need.CPU > 0 && free.CPU < 0 || need.Memory > 0 && free.Memory < 0 {
				c.fault("node %s lacks %s at the end, and VM %s is still there", n.ID, cluster.Resources{}.Minus(free), vm)
			}
			if n.State == cluster.Offline || n.State == cluster.Down {
				c.fault("VM %s ends on node %s, which is %s", vm, n.ID, n.State)
			}
		}
	}
}

// couldMove reports whether the plan was free to place the VM: its goal lets it
// run, and its gang may be paused if that is what moving it takes. What stands still in
// memory, or is to, stays where it is.
func (c *check) couldMove(vm cluster.VMID) bool {
	if !c.mayTouch(vm) || c.goal[vm.VJob] == cluster.VMPaused {
		return false
	}
	if state, _ := c.p.Current.State(vm); state == cluster.VMPaused {
		return false
	}
	if _, runs := c.p.Current.Host(vm); !runs {
		return true
	}
	return !c.rigid[vm.VJob] || !c.held[vm.VJob]
}
