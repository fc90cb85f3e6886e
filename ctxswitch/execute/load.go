package execute

import (
	"vjob/cluster"
	"vjob/hypervisor"
)

// cap is the CPU that a member may use at most where it is; 0 if it is nowhere.
func (cp *capacity) cap(p *gangState, rank int) (most cluster.MilliCPU) {
	vm := p.job.VMs[rank].ID
	for _, name := range cp.nodes.seenOn[vm] {
		most = max(most, p.ceiling(rank, cp.nodes.byID[name].copies[vm].Cap))
	}
	return most
}

// load is the most CPU that the VMs on a node may use, see [Executor.Load].
func (cp *capacity) load(n *node) (sum cluster.MilliCPU) {
	for vm, c := range n.copies {
		if p, ok := cp.gangs.of(vm); ok && (!p.rec.Paused() || c.State == hypervisor.CopyRunning) {
			most := p.ceiling(vm.Rank, c.Cap)
			if w := p.member(vm.Rank).cap; n.began <= w.ended || n.capping(vm) {
				most = max(most, p.ceiling(vm.Rank, w.asked))
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
			sum += p.brought(&o.call)
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
			if _, there := n.copies[vm]; touched && n.began <= at && !there && !coming[vm] {
				sum += p.ceiling(rank, t.cap.most)
			}
		}
	}
	return sum
}

// brought is the most that a VM uses that a call brings to a node: a migration takes its cap
// along, and what is created has the cap that it was begun with.
func (p *gangState) brought(call *hypervisor.Call) cluster.MilliCPU {
	most := call.Cap
	if call.Verb == hypervisor.Migrate {
		most = p.member(call.VM.Rank).cap.most
	}
	return p.ceiling(call.VM.Rank, most)
}

// admits asks whether a VM may use so much CPU after a call, beside what others of its
// gang are about to. One that migrates runs on one of the two nodes at a time.
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

// ceiling is the most CPU that a member uses under a cap. Without one it is taken at its
// word: what it has reserved.
func (p *gangState) ceiling(rank int, most cluster.MilliCPU) cluster.MilliCPU {
	if most > 0 {
		return most
	}
	return p.job.VMs[rank].Reserved.CPU
}
