package ctxswitch

import (
	"cmp"
	"slices"

	"vjob/cluster"
)

// gangs checks that vjobs are treated as wholes (thesis §9.1.2):
//
//   - a gang is of one vjob and one kind, in rank order, and its actions wait for
//     the same actions; live migrations are exempt;
//   - VMs migrate live only where all running members of their vjob may;
//   - nothing else happens to a vjob while it is paused as a whole;
//   - after it was suspended no member runs, after it was resumed none sleeps, and
//     it stops and goes on in memory with all of its members;
//   - the gangs of a vjob can be carried out one after another as they are listed.
func (c *check) gangs() {
	for g, gang := range c.plan.Gangs {
		if len(gang.Actions) == 0 {
			c.fault("gang %d of vjob %s is empty", g, gang.VJob)
			continue
		}
		if g > 0 && c.begins(g) < c.begins(g-1) {
			c.fault("gang %d of vjob %s starts before the one listed before it", g, gang.VJob)
		}
		first := c.plan.Actions[gang.Actions[0]]
		for i, id := range gang.Actions {
			a := c.plan.Actions[id]
			if a.VM.VJob != gang.VJob || a.Kind != gang.Kind || a.Live != first.Live {
				c.fault("gang %d is to %s vjob %s, action %d is not of that sort", g, gang.Kind, gang.VJob, id)
			}
			if i > 0 && cmp.Or(cmp.Compare(c.plan.Actions[gang.Actions[i-1]].VM.Rank, a.VM.Rank), cmp.Compare(gang.Actions[i-1], id)) > 0 {
				c.fault("gang %d of vjob %s is not in rank order at action %d", g, gang.VJob, id)
			}
			if !a.Live && !slices.Equal(a.After, first.After) {
				c.fault("gang %d of vjob %s: actions %d and %d do not wait for the same", g, gang.VJob, first.ID, id)
			}
		}
		if first.Live {
			c.liveGang(gang)
		} else if gang.Kind != cluster.Boot && gang.Kind != cluster.Stop {
			c.alone(gang)
			c.whole(gang)
		}
	}
	c.succession()
}

// begins is the number of the first action of a gang, which are numbered by start.
func (c *check) begins(g int) ActionID {
	if len(c.plan.Gangs[g].Actions) == 0 {
		return 0
	}
	return slices.Min(c.plan.Gangs[g].Actions)
}

func (c *check) liveGang(gang Gang) {
	for _, vm := range c.members[gang.VJob] {
		if _, runs := c.p.Current.Host(vm); runs && !c.p.Live[vm] {
			c.fault("VMs of vjob %s migrate live, but %s may not", gang.VJob, vm)
		}
	}
}

// alone checks that any other action of the vjob comes before the whole gang or
// after it.
func (c *check) alone(gang Gang) {
	for _, a := range c.plan.Actions {
		if a.VM.VJob != gang.VJob || slices.Contains(gang.Actions, a.ID) {
			continue
		}
		if !c.precedes(a, gang) && !c.before[a.ID].hasAll(gang.Actions) {
			c.fault("action %d on VM %s may fall together with the %s of its vjob", a.ID, a.VM, gang.Kind)
		}
	}
}

func (c *check) precedes(a Action, gang Gang) bool {
	for _, id := range gang.Actions {
		if !c.before[id].has(int(a.ID)) {
			return false
		}
	}
	return true
}

// whole checks the members that a gang leaves out: a pinned one cannot be paused
// with the others, and a suspend or a resume leaves no member behind.
func (c *check) whole(gang Gang) {
	for _, vm := range c.members[gang.VJob] {
		state, _ := c.p.Current.State(vm)
		if c.p.Pinned[vm] && onNode(state) {
			c.fault("the %s pauses vjob %s, of which VM %s is pinned", gang.Kind, gang.VJob, vm)
		}
		part := false
		for _, a := range c.plan.Actions {
			if a.VM != vm {
				continue
			}
			part = part || slices.Contains(gang.Actions, a.ID)
			if next, legal := state.After(a.Kind); legal && c.precedes(a, gang) {
				state = next
			}
		}
		if part {
			continue
		}
		left := map[cluster.ActionKind][]cluster.VMState{
			cluster.Suspend: {cluster.VMRunning, cluster.VMPaused, cluster.VMWaiting}, cluster.Resume: {cluster.VMSleeping},
			cluster.Pause: {cluster.VMRunning, cluster.VMWaiting}, cluster.Unpause: {cluster.VMPaused},
		}
		if slices.Contains(left[gang.Kind], state) {
			c.fault("the %s of vjob %s leaves out VM %s, which is %s", gang.Kind, gang.VJob, vm, state)
		}
	}
}

// succession checks that the plan does not lock up when the gangs of each vjob
// follow each other in the order in which they are listed.
func (c *check) succession() {
	last := map[cluster.VJobID]int{}
	previous := make([]int, len(c.plan.Gangs))
	for g, gang := range c.plan.Gangs {
		previous[g] = -1
		if p, ok := last[gang.VJob]; ok {
			previous[g] = p
		}
		last[gang.VJob] = g
	}
	done := newSet(len(c.plan.Actions))
	for progress, left := true, len(c.plan.Actions); left > 0; {
		if !progress {
			c.fault("the gangs wait for each other in a circle when those of one vjob follow each other")
			return
		}
		progress = false
		for _, a := range c.plan.Actions {
			p := previous[c.gangOf[a.ID]]
			if done.has(int(a.ID)) || !done.hasAll(a.After) || p >= 0 && !done.hasAll(c.plan.Gangs[p].Actions) {
				continue
			}
			done.add(int(a.ID))
			progress = true
			left--
		}
	}
}
