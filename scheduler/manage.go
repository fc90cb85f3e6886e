package scheduler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/energy/dpm"
	"vjob/power/cycle"
)

// Management switches nodes off that nothing needs, and on again: package dpm.
type Management struct {
	dpm.Settings
	Every time.Duration // between two decisions
	// Boot is expected of nodes of which no power model is known.
	Boot time.Duration
}

// manager is what power management remembers. A restart forgets it, and then nothing
// goes off before demand is known again.
type manager struct {
	past  *dpm.History
	noted time.Time
	next  time.Time // decision
}

// manage takes part in a decision: it wakes nodes for what waits, and now and then looks
// at what all nodes have to do.
func (c *Core) manage(decided bool) {
	m := c.settings.Switching.Manage
	if m == nil || !c.exec.Surveyed() || c.decidedAt.IsZero() {
		return
	}
	if c.manager == nil {
		c.manager = &manager{past: dpm.NewHistory(m.RiskWindow), next: c.now.Add(m.Every)}
	}
	if c.manager.noted.IsZero() || c.now.Sub(c.manager.noted) >= dpm.Slot/4 {
		c.manager.noted = c.now
		c.manager.past.Note(c.now, c.samples())
	}
	if decided {
		c.wakeFor(m)
		c.shed()
	}
	if !c.now.Before(c.manager.next) {
		c.manager.next = c.now.Add(m.Every)
		c.review(m)
	}
}

// samples are the VMs that run, with what they need; a container stands for those inside.
func (c *Core) samples() (list []dpm.Sample) {
	for _, r := range c.exec.Jobs() {
		if r.Record.Phase == gang.Absent || r.Record.Phase == gang.Saved || r.Job.Inner != 0 {
			continue
		}
		for rank, m := range r.Record.Members {
			if vm := r.Job.VMs[rank].ID; m.Node != "" && !m.Ended {
				list = append(list, dpm.Sample{VM: vm, Node: m.Node, CPU: c.exec.Demand(vm)})
			}
		}
	}
	return list
}

// review asks the paper's rules which nodes to switch.
func (c *Core) review(m *Management) {
	world := dpm.Cluster{
		Now: c.now, Where: dpm.Placement{}, Memory: map[cluster.VMID]cluster.MiB{}, Past: c.manager.past, Waits: len(c.queueing) > 0 || c.soon(m) != nil,
	}
	for _, n := range c.exec.Nodes() {
		if h, counts := c.hostOf(&n, m); counts {
			world.Hosts = append(world.Hosts, h)
		}
	}
	for _, s := range c.samples() {
		world.Where[s.VM], world.Memory[s.VM] = s.Node, c.exec.Need(s.VM).Memory
	}
	seed := rand.NewPCG(c.settings.Seed, uint64(c.now.UnixNano()))
	advice := m.Decide(&world, c.whatIf(m, &world), rand.New(seed))
	for _, change := range advice.On {
		if !c.affordsOn(change.Host) {
			continue // it would take the power from those for whom it is to come on
		}
		c.wish(change.Host, cycle.WantOn, change.Why)
	}
	for _, change := range advice.Off {
		c.wish(change.Host, cycle.WantOff, change.Why)
	}
}

// wish notes what power management wants of a node.
func (c *Core) wish(id cluster.NodeID, want cycle.Want, why string) {
	s := c.switches[id]
	next, changed := cycle.Order(s.record, want, "", why, c.now)
	if changed {
		s.record = next
		c.notePower(s, fmt.Sprintf("node %s shall be %s: %s", id, want, why), false)
		c.powerAt = c.now.Add(time.Millisecond) // there is a step to take
	}
}

// hostOf is a node as power management sees it; one that an operator has taken out of use
// is no business of its.
func (c *Core) hostOf(n *execute.NodeReport, m *Management) (h dpm.Host, counts bool) {
	if n.State != cluster.Online || n.Silent {
		return h, false
	}
	h = dpm.Host{ID: n.ID, Capacity: n.Capacity, Since: n.Since, Power: c.settings.Energy.Power[n.ID]}
	if h.Power.On.Time == 0 {
		h.Power.On.Time = m.Boot
	}
	s := c.switches[n.ID]
	switch {
	case s == nil:
		h.Fixed = "it cannot be switched"
		return h, true
	case s.record.By != "":
		h.Fixed = "somebody else decides about it"
	}
	switch s.record.Phase {
	case cycle.On:
		if h.Fixed == "" {
			h.Fixed = c.exec.Tied(n.ID)
		}
		if s.record.Since.After(h.Since) {
			h.Since = s.record.Since
		}
	case cycle.Starting:
		h.State = dpm.Coming
	case cycle.Off:
		h.State = dpm.Away
	case cycle.Emptying, cycle.Stopping, cycle.Stuck:
		h.State, h.Fixed = dpm.Away, "it is on its way, or left alone"
		if s.record.Want == cycle.WantOn && s.record.Phase != cycle.Stuck {
			h.State = dpm.Coming
		}
	}
	return h, true
}

// whatIf lets the planner say whether nodes can be emptied by the rules, and spreads the
// VMs evenly after that: nodes that are on take their part of what there is.
func (c *Core) whatIf(m *Management, world *dpm.Cluster) dpm.WhatIf {
	even := m.Balance(world, 0.1)
	return func(on []cluster.NodeID, from dpm.Placement) (dpm.Placement, bool) {
		var empty []cluster.NodeID
		for _, h := range world.Hosts {
			if _, stays := slices.BinarySearch(on, h.ID); !stays && h.State == dpm.On {
				empty = append(empty, h.ID)
			}
		}
		if len(empty) > 0 && !c.picture().Empties(empty) {
			return nil, false
		}
		return even(on, from)
	}
}

// decreed is what was decreed of a node.
func (c *Core) decreed(id cluster.NodeID) cluster.NodeState {
	n, _ := c.exec.Node(id)
	return n.State
}
