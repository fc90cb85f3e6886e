package execute

import (
	"slices"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Policies that count VMs for what they use put more on a node than all its VMs may ask
// for at once. While they do, a vjob gets on more slowly, or not at all where its members
// wait for each other. Its owner cannot prevent that, so its walltime stops, as it does
// during a suspension (ADR 22).

// nearlyAll is the percentage of its CPU beyond which a node has none left to give: what
// guests are measured to use may stay below what they would use.
const nearlyAll = 98

// updateCrowding notes which members go short on a node, now that it was looked at.
func (ac *accounts) updateCrowding(n *node) {
	short := n.shortOfCPU(ac.gangs.live)
	if slices.Equal(short, n.short) {
		return
	}
	before := n.short
	n.short = short
	for _, vm := range before {
		ac.countShort(vm.VJob, -1)
	}
	for _, vm := range short {
		ac.countShort(vm.VJob, 1)
	}
}

// countShort counts the members of a vjob that go short, from now on so many more.
func (ac *accounts) countShort(id cluster.VJobID, more int) {
	p, known := ac.gangs.live[id]
	if !known {
		return
	}
	ac.gangs.begin(p)
	ac.add(p, false)
	p.account.short += more
	ac.changed(p)
	ac.walltimes.await(p)
}

// shortOfCPU are the members that want CPU on a node that is asked for more than it has, in
// order.
func (n *node) shortOfCPU(gangs map[cluster.VJobID]*gangState) (short []cluster.VMID) {
	if !n.crowded(gangs) {
		return nil
	}
	for vm, c := range n.copies {
		if need, reserved := asks(gangs, &c); busy(need, reserved) {
			short = append(short, vm)
		}
	}
	slices.SortFunc(short, cluster.VMID.Compare)
	return short
}

// crowded reports whether the members on a node want more CPU than it has, or next to no CPU is
// left and members that want CPU have reserved more.
func (n *node) crowded(gangs map[cluster.VJobID]*gangState) bool {
	var wanted, claimed cluster.MilliCPU
	for _, c := range n.copies {
		need, reserved := asks(gangs, &c)
		wanted += need
		if busy(need, reserved) {
			claimed += reserved
		}
	}
	has := n.Capacity.CPU
	return wanted > has || 100*wanted >= nearlyAll*has && claimed > has
}

// asks is the CPU that a copy wants, under its cap, and what it has reserved.
func asks(gangs map[cluster.VJobID]*gangState, c *hypervisor.Copy) (need, reserved cluster.MilliCPU) {
	p := gangs[c.VM.VJob]
	if p == nil || c.VM.Rank >= len(p.job.VMs) || c.State != hypervisor.CopyRunning {
		return 0, 0
	}
	need = c.CPU
	if c.Cap > 0 {
		need = min(need, c.Cap)
	}
	return need, p.job.VMs[c.VM.Rank].Reserved.CPU
}

// busy reports whether a member does not just idle.
func busy(need, reserved cluster.MilliCPU) bool { return need > 0 && 10*need >= reserved }
