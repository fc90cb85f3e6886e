package nodepower

import (
	"math/rand/v2"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/energy/dpm"
	"vjob/energy/power/cycle"
	"vjob/scheduler/balance"
	"vjob/scheduler/balance/whatif"
)

// review applies the rules of package energy/dpm to all nodes.
func (k *Policy) review(s *Scene) {
	world := k.world(s)
	seed := rand.NewPCG(k.Seed, uint64(s.Now.UnixNano()))
	advice := k.settings.Decide(world, k.whatIf(s, world), rand.New(seed))
	for _, change := range advice.On {
		if !k.Power.Affords(change.Host) {
			continue // it would take power from the vjobs that wait for it
		}
		k.wish(s.Now, change.Host, cycle.WantOn, change.Why)
	}
	for _, change := range advice.Off {
		k.wish(s.Now, change.Host, cycle.WantOff, change.Why)
	}
}

// world returns the cluster as the rules see it.
func (k *Policy) world(s *Scene) *dpm.Cluster {
	world := &dpm.Cluster{
		Now: s.Now, Where: dpm.Placement{}, Memory: map[cluster.VMID]cluster.MiB{}, History: k.Past,
		JobsWait: len(s.Waiting) > 0 || k.soon(s) != nil,
	}
	for _, n := range k.Exec.Nodes() {
		if h, counts := k.host(n); counts {
			world.Hosts = append(world.Hosts, h)
		}
	}
	for _, vm := range Samples(k.Exec) {
		world.Where[vm.VM], world.Memory[vm.VM] = vm.Node, k.Exec.VMs.Need(vm.VM).Memory
	}
	return world
}

// host returns a node as the rules see it; nodes that an administrator has taken out of use do not
// count.
func (k *Policy) host(n *execute.NodeReport) (h dpm.Host, counts bool) {
	if n.State != cluster.Online || n.Silent {
		return h, false
	}
	h = dpm.Host{ID: n.ID, Capacity: n.Capacity, Since: n.Since, Power: k.Models[n.ID]}
	if h.Power.On.Time == 0 {
		h.Power.On.Time = k.settings.Boot
	}
	r := k.Controller.Record(n.ID)
	switch {
	case r == nil:
		h.FixedReason = "it cannot be switched"
		return h, true
	case r.By != "":
		h.FixedReason = "it is switched by a user"
	}
	switch r.Phase {
	case cycle.On:
		if h.FixedReason == "" {
			h.FixedReason = k.Exec.PowerStates.Pinned(n.ID)
		}
		if r.Since.After(h.Since) {
			h.Since = r.Since
		}
	case cycle.Starting:
		h.State = dpm.Coming
	case cycle.Off:
		h.State = dpm.Off
	case cycle.Emptying, cycle.Stopping, cycle.Stuck:
		h.State, h.FixedReason = dpm.Off, "it is on its way, or left alone"
		if r.Want == cycle.WantOn && r.Phase != cycle.Stuck {
			h.State = dpm.Coming
		}
	}
	return h, true
}

// whatIf returns a function that asks the planner whether nodes can be emptied under the rules, and
// then balances the VMs.
func (k *Policy) whatIf(s *Scene, world *dpm.Cluster) dpm.Rebalance {
	even := whatif.Rebalance(balance.Default, &k.settings.Settings, world)
	return func(on []cluster.NodeID, from dpm.Placement) (dpm.Placement, bool) {
		var empty []cluster.NodeID
		for _, h := range world.Hosts {
			if _, stays := slices.BinarySearch(on, h.ID); !stays && h.State == dpm.On {
				empty = append(empty, h.ID)
			}
		}
		if len(empty) > 0 && !s.View().CanEmpty(empty) {
			return nil, false
		}
		return even(on, from)
	}
}
