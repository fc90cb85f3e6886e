package execute

import (
	"vjob/cluster"
	"vjob/hypervisor"
)

// capacity accounts for what the VMs take of nodes, and says what may be done there beside it.
type capacity struct {
	*batch
	settings *Settings
	hooks    *Hooks
	gangs    *gangs
	nodes    *nodes
	limits   map[cluster.VJobID][]cluster.MilliCPU // the most for which the VMs of some vjobs count, by rank
}

// claim is what a call takes of a node while it is decided, and what it holds
// there while it is under way.
type claim struct {
	room      cluster.Resources
	load      cluster.MilliCPU // that its VMs may use
	transfers int
}

// may reports whether a call may be made now: the actions that it waits for are done, the node has the room,
// and a transfer slot is free on every node involved. It then adds the room and the slots to tentative,
// which counts them for later calls of the same step.
func (cp *capacity) may(p *gangState, call hypervisor.Call, tentative map[cluster.NodeID]claim) bool {
	if !p.dependenciesDone(call) {
		return false
	}
	at := call.Node
	nodes := []cluster.NodeID{call.Node}
	if call.To != "" {
		at = call.To
		nodes = append(nodes, call.To)
	}
	if call.Verb != hypervisor.Boot {
		for _, id := range nodes {
			if cp.transfers(id)+tentative[id].transfers >= cp.settings.Transfers {
				cp.denied[p.job.ID] = true
				return false
			}
		}
		if act := p.actionOf(call.VM.Rank); act != nil && cp.overtakes(p, act, tentative) {
			return false
		}
	}
	if call.Verb != hypervisor.Save {
		need := cp.room(p, call)
		load := p.maxCPU(call.VM.Rank, p.member(call.VM.Rank).tuning.most)
		p.memberOf(call.VM.Rank).noRoom = !cp.fits(at, p, need, tentative[at].room) || !p.mustGo(call) && !cp.admits(call, load, tentative)
		if p.member(call.VM.Rank).noRoom {
			if p.phase.deniedSince.IsZero() {
				p.phase.deniedSince = cp.now
			}
			cp.denied[p.job.ID] = true
			return false
		}
		c := tentative[at]
		c.room, c.load = c.room.Plus(need), c.load+load
		tentative[at] = c
	}
	for _, id := range nodes {
		c := tentative[id]
		c.transfers++ // of boots as well: a gang makes no transfers beside them
		tentative[id] = c
	}
	return true
}

// room is what must be free on the node for a call. A gang that was turned back in the middle of being
// saved can only continue: its memory is reserved until it is saved, but the decision to save it has given
// its CPU to others. So no CPU need be free, and it shares what there is until the next decision.
func (cp *capacity) room(p *gangState, call hypervisor.Call) cluster.Resources {
	need := cp.counts(p, call.VM.Rank)
	if p.mustGo(call) {
		need.CPU = 0
	}
	return need
}

// fits reports whether a node has room for one more VM beside everything that is
// there or on its way. A VM that needs no CPU is not refused for want of CPU.
func (cp *capacity) fits(at cluster.NodeID, p *gangState, need, taken cluster.Resources) bool {
	n, ok := cp.nodes.byID[at]
	if !ok || !n.seen {
		return false
	}
	free := cp.free(n, p).Minus(taken)
	return need.Memory <= free.Memory && (need.CPU == 0 || need.CPU <= free.CPU)
}

// used is the room that is taken on a node, by three kinds of VMs: those with a copy there (a paused copy
// may have to continue, unless its gang is paused in memory); those that a call may bring there that is
// under way or has ended since the last look; and copies of no live vjob.
func (cp *capacity) used(n *node) cluster.Resources {
	return cp.usedBy(n, func(*gangState) bool { return true }).Plus(cp.foreign(n))
}

// usedBy is the room that some vjobs take on a node.
func (cp *capacity) usedBy(n *node, whose func(p *gangState) bool) (sum cluster.Resources) {
	add := func(id cluster.VMID) {
		if p, ok := cp.gangs.of(id); ok && whose(p) {
			sum = sum.Plus(cp.counts(p, id.Rank))
		}
	}
	for id := range n.copies {
		add(id)
	}
	for _, o := range n.ops {
		if _, there := n.copies[o.call.VM]; !there && brings(o.call, n.ID) {
			add(o.call.VM)
		}
	}
	for id := range n.arrived {
		if _, there := n.copies[id]; !there {
			add(id)
		}
	}
	return sum
}

// brings reports whether a call that is under way on the node can create a copy there.
func brings(call hypervisor.Call, node cluster.NodeID) bool {
	switch call.Verb {
	case hypervisor.Boot, hypervisor.Restore:
		return true
	case hypervisor.Migrate:
		return call.To == node
	default:
		return false
	}
}

// counts is what a member counts for on its node: no CPU while its gang is paused in memory.
func (cp *capacity) counts(p *gangState, rank int) cluster.Resources {
	if p.rec.Paused() {
		return cp.need(p, rank).Paused()
	}
	return cp.need(p, rank)
}

// need is what a member counts for while it runs.
func (cp *capacity) need(p *gangState, rank int) cluster.Resources {
	need := cp.wanted(p, rank)
	if most := cp.limits[p.job.ID]; most != nil {
		need.CPU = min(need.CPU, most[rank])
	}
	return need
}

// wanted is what a member needs while it runs: its memory in full, and the CPU that
// it was last seen to need, or reserves while it has not been seen.
func (cp *capacity) wanted(p *gangState, rank int) cluster.Resources {
	if cp.hooks.Needs != nil {
		cpu, seen := p.account.observed(rank)
		return cp.hooks.Needs(p.job, rank, cpu, seen)
	}
	return p.job.VMs[rank].Reserved
}

// foreign is the room that copies of no live vjob take on a node: their memory, and the
// CPU of those that run.
func (cp *capacity) foreign(n *node) (sum cluster.Resources) {
	for id, c := range n.copies {
		if _, known := cp.gangs.live[id.VJob]; known {
			continue
		}
		size := c.Size
		if c.State != hypervisor.CopyRunning {
			size = size.Paused()
		}
		sum = sum.Plus(size)
	}
	return sum
}

// mayRun reports whether all members of a paused gang have the CPU that they need on their nodes,
// and the power for it. A member that needs more CPU than its node has continues with all of it:
// it would never have more there, and cannot move before it runs. A node that was not seen has no
// CPU.
func (cp *capacity) mayRun(p *gangState) bool {
	wants, load := map[cluster.NodeID]cluster.MilliCPU{}, map[cluster.NodeID]cluster.MilliCPU{}
	for rank, m := range p.rec.Members {
		if !m.Ended {
			wants[m.Node] += cp.need(p, rank).CPU
			load[m.Node] += max(cp.cap(p, rank), p.maxCPU(rank, p.member(rank).tuning.most))
		}
	}
	for id, cpu := range wants {
		n, ok := cp.nodes.byID[id]
		if !ok || !n.seen || cpu > 0 && min(cpu, n.Capacity.CPU) > cp.free(n, p).CPU {
			return false
		}
	}
	return cp.hooks.Admits == nil || cp.hooks.Admits(load)
}

// free is what a vjob finds on a node: what is free there and no container keeps;
// inside a container, the room of the container that no vjob inside uses.
func (cp *capacity) free(n *node, p *gangState) cluster.Resources {
	free := n.Capacity.Minus(cp.used(n))
	for id, c := range cp.gangs.containers {
		if id == p.job.Inner {
			continue
		}
		unused := cp.unused(c, n)
		free = free.Minus(cluster.Resources{CPU: max(0, unused.CPU), Memory: max(0, unused.Memory)})
	}
	if c, inside := cp.gangs.containers[p.job.Inner]; inside {
		unused := cp.unused(c, n)
		free = cluster.Resources{CPU: min(free.CPU, unused.CPU), Memory: min(free.Memory, unused.Memory)}
	}
	return free
}

// unused is what a container keeps on a node and no VM inside uses.
func (cp *capacity) unused(c *gangState, n *node) cluster.Resources {
	return c.containerRoom(n.ID).Minus(cp.usedBy(n, func(q *gangState) bool { return q.job.Inner == c.job.ID }))
}

// cap is the CPU that a member may use at most where it is; 0 if it is nowhere.
func (cp *capacity) cap(p *gangState, rank int) (most cluster.MilliCPU) {
	vm := p.job.VMs[rank].ID
	for _, name := range cp.nodes.seenOn[vm] {
		most = max(most, p.maxCPU(rank, cp.nodes.byID[name].copies[vm].Cap))
	}
	return most
}

// load is the most CPU that the VMs on a node may use, see [VMs.Load].
func (cp *capacity) load(n *node) (sum cluster.MilliCPU) {
	for vm, c := range n.copies {
		if p, ok := cp.gangs.of(vm); ok && (!p.rec.Paused() || c.State == hypervisor.CopyRunning) {
			most := p.maxCPU(vm.Rank, c.Cap)
			if w := p.member(vm.Rank).tuning; n.asOf <= w.ended || n.tuning(vm) {
				most = max(most, p.maxCPU(vm.Rank, w.asked))
			}
			sum += most
		}
	}
	coming := map[cluster.VMID]bool{}
	for _, o := range n.ops {
		vm := o.call.VM
		p, ok := cp.gangs.of(vm)
		if _, there := n.copies[vm]; ok && !there && !coming[vm] && brings(o.call, n.ID) {
			coming[vm] = true
			sum += p.broughtCPU(&o.call)
		}
	}
	for job := range cp.nodes.jobsOn[n.ID] {
		p, ok := cp.gangs.live[job]
		if !ok {
			continue
		}
		for rank := range p.members {
			vm, t := p.job.VMs[rank].ID, &p.members[rank]
			at, touched := t.touched[n.ID]
			if _, there := n.copies[vm]; touched && n.asOf <= at && !there && !coming[vm] {
				sum += p.maxCPU(rank, t.tuning.most)
			}
		}
	}
	return sum
}

// admits reports whether a VM may use so much CPU after a call, in addition to the calls in tentative. A VM
// that migrates runs on one of the two nodes at a time.
func (cp *capacity) admits(call hypervisor.Call, load cluster.MilliCPU, tentative map[cluster.NodeID]claim) bool {
	if cp.hooks.Admits == nil || load <= 0 {
		return true
	}
	more := make(map[cluster.NodeID]cluster.MilliCPU, len(tentative)+2)
	for id, c := range tentative {
		more[id] = c.load
	}
	if call.Verb == hypervisor.Migrate {
		more[call.Node] -= load
		more[call.To] += load
	} else {
		more[call.Node] += load
	}
	return cp.hooks.Admits(more)
}
