package execute

import (
	"vjob/cluster"
	"vjob/hypervisor"
)

// claim is what a call takes of a node while it is decided, and what it holds
// there while it is under way.
type claim struct {
	room      cluster.Resources
	load      cluster.MilliCPU // that its VMs may use
	transfers int
}

// may asks whether a call may be made now: the actions it waits for are done,
// the node has the room, and a transfer slot is free on every node involved. It
// takes room and slot in tentative, until the call is issued.
func (e *Executor) may(p *gangState, call hypervisor.Call, tentative map[cluster.NodeID]claim) bool {
	if !p.released(call) {
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
			if e.transfers(id)+tentative[id].transfers >= e.settings.Transfers {
				e.denied[p.job.ID] = true
				return false
			}
		}
	}
	if call.Verb != hypervisor.Save {
		need := e.room(p, call)
		load := p.ceiling(call.VM.Rank, p.member(call.VM.Rank).cap.most)
		if !e.fits(at, p, need, tentative[at].room) || !p.mustGo(call) && !e.admits(call, load, tentative) {
			if p.denied.IsZero() {
				p.denied = e.now
			}
			e.denied[p.job.ID] = true
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

// mustGo reports whether there is nothing that a gang could do instead of a call: it was
// turned back in the middle of being saved.
func (p *gangState) mustGo(call hypervisor.Call) bool {
	return call.Verb == hypervisor.Restore && !p.rec.Whole()
}

// room is what a call must find on the node. A gang that was turned back in the middle
// of being saved can only go on. Its memory is kept for it until it is saved, but its
// CPU was given away with the decision to save it: it makes do with a share of what is
// there, until the next decision makes room.
func (e *Executor) room(p *gangState, call hypervisor.Call) cluster.Resources {
	need := e.counts(p, call.VM.Rank)
	if p.mustGo(call) {
		need.CPU = 0
	}
	return need
}

// fits reports whether a node has room for one more VM beside everything that is
// there or on its way. A VM that needs no CPU is not refused for want of CPU.
func (e *Executor) fits(at cluster.NodeID, p *gangState, need, taken cluster.Resources) bool {
	n, ok := e.nodes[at]
	if !ok || !n.seen {
		return false
	}
	free := e.free(n, p).Minus(taken)
	return need.Memory <= free.Memory && (need.CPU == 0 || need.CPU <= free.CPU)
}

// used is what counts on a node: every copy, since a paused one may have to go on
// unless its gang stands still; every VM that a call may bring there that is under way or
// has ended since the last look; and copies of no live vjob.
func (e *Executor) used(n *node) cluster.Resources {
	return e.usedBy(n, func(*gangState) bool { return true }).Plus(e.foreign(n))
}

// usedBy is what counts on a node of some vjobs.
func (e *Executor) usedBy(n *node, whose func(p *gangState) bool) (sum cluster.Resources) {
	add := func(id cluster.VMID) {
		if p, ok := e.gangs[id.VJob]; ok && id.Rank < len(p.job.VMs) && whose(p) {
			sum = sum.Plus(e.counts(p, id.Rank))
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
	for id := range n.unseen {
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

// transfers counts the bulk calls under way on a node.
func (e *Executor) transfers(id cluster.NodeID) int {
	node, ok := e.nodes[id]
	if !ok {
		return 0
	}
	n := 0
	for _, o := range node.ops {
		if v := o.call.Verb; v == hypervisor.Save || v == hypervisor.Restore || v == hypervisor.Migrate {
			n++
		}
	}
	return n
}

// counts is what a member counts for on its node: no CPU while its gang stands still.
func (e *Executor) counts(p *gangState, rank int) cluster.Resources {
	if p.rec.Paused() {
		return e.need(p, rank).Paused()
	}
	return e.need(p, rank)
}

// need is what a member counts for while it runs: its memory in full, and the CPU that
// it was last seen to need, or reserves while it has not been seen.
func (e *Executor) need(p *gangState, rank int) cluster.Resources {
	if e.Needs != nil {
		cpu, seen := p.observed(rank)
		return e.Needs(p.job, rank, cpu, seen)
	}
	return p.job.VMs[rank].Reserved
}
