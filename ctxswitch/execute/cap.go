package execute

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Caps are level-triggered and lie beside the protocol of gangs: whatever a gang is
// doing, each copy is to have the cap that is wanted of its member. A boot and a restore
// bring it; where a look shows another one, because it was changed or has got lost, it is
// set again. Nothing waits for it, so VMs run on a host that cannot cap.

// capping is what is wanted of a member's cap, and how setting it went.
type capping struct {
	most  cluster.MilliCPU // 0 is no cap
	tries int              // in a row that did not lead to it
	tried time.Time
	asked cluster.MilliCPU // by the last call
	ended uint64           // logical time at which the last call for it ended
}

// SetCaps says how much CPU each member of a vjob gets at most from now on, by rank; 0 is
// as much as there is. Unknown vjobs are ignored.
func (e *Executor) SetCaps(now time.Time, id cluster.VJobID, most []cluster.MilliCPU) {
	e.now = now
	p, known := e.gangs[id]
	if !known || len(most) != len(p.job.VMs) {
		return
	}
	if !p.capped {
		p.capped = true
		e.dirty[id] = true
	}
	for rank := range most {
		if p.member(rank).cap.most != most[rank] {
			w := &p.memberOf(rank).cap
			w.most, w.tries = most[rank], 0
			e.dirty[id] = true
		}
	}
}

// recap sets the caps of copies that have another one than is wanted. After a start they
// are left alone until they are set.
func (e *Executor) recap(p *gangState) {
	if !p.capped {
		return
	}
	for rank := range p.job.VMs {
		id := p.job.VMs[rank].ID
		for _, name := range e.seenOn[id] {
			n := e.nodes[name]
			c := n.copies[id]
			w := &p.memberOf(rank).cap
			if c.Cap == w.most {
				w.tries = 0
				continue
			}
			fresh := n.seen && n.began > w.ended
			if fresh && c.State != hypervisor.CopyDead && c.Job == hypervisor.JobNone && !n.capping(id) {
				e.setCap(p, rank, name, &c)
			}
		}
	}
}

// recapDue wakes the gangs of which a cap did not come about, when it is time.
func (e *Executor) recapDue() {
	if e.capsDue.IsZero() || e.now.Before(e.capsDue) {
		return
	}
	e.capsDue = time.Time{}
	for id, p := range e.gangs {
		if slices.ContainsFunc(p.members, func(t memberState) bool { return t.cap.tries > 0 }) {
			e.dirty[id] = true
		}
	}
}

// setCap sets the cap of one copy, if its time has come and there is the power for it.
func (e *Executor) setCap(p *gangState, rank int, at cluster.NodeID, c *hypervisor.Copy) {
	w := &p.memberOf(rank).cap
	if w.tries > 0 && e.now.Before(w.rest()) {
		e.capsDue = sooner(e.capsDue, w.rest())
		return
	}
	more := p.ceiling(rank, w.most) - p.ceiling(rank, c.Cap)
	if more > 0 && e.Admits != nil && !e.Admits(map[cluster.NodeID]cluster.MilliCPU{at: more}) {
		e.denied[p.job.ID] = true
		return
	}
	w.tries++
	w.tried, w.asked = e.now, w.most
	e.begin([]hypervisor.Call{{Verb: hypervisor.Cap, VM: c.VM, Node: at, Cap: w.most}}, p.plan(), false,
		func(hypervisor.Call) time.Duration { return leastDeadline })
}

// rest is until when a cap that does not come about is left alone.
func (w *capping) rest() time.Time { return w.tried.Add(backOff(w.tries)) }

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// refused tells, once in a phase, that a copy has not got its cap.
func (e *Executor) refused(p *gangState, call *hypervisor.Call, err error) {
	if err != nil && !errors.Is(err, hypervisor.ErrNoSuchVM) { // one that has left needs no cap
		e.alarm(p, fmt.Sprintf("%s on %s: its share of CPU cannot be limited to %s: %s", call.VM, call.Node, call.Cap, err))
	}
}

// uncap notes the end of a call for a cap at a logical time. If it was in vain, the next
// one comes later.
func (e *Executor) uncap(p *gangState, rank int, at uint64) {
	if t := p.memberOf(rank); t != nil {
		t.cap.ended = at
		e.capsDue = sooner(e.capsDue, t.cap.rest())
	}
}

// capping reports whether a call that caps a VM is under way on the node.
func (n *node) capping(id cluster.VMID) bool {
	for _, o := range n.ops {
		if o.call.Verb == hypervisor.Cap && o.call.VM == id {
			return true
		}
	}
	return false
}

// ceiling is the most CPU that a member uses under a cap. Without one it is taken at its
// word: what it has reserved.
func (p *gangState) ceiling(rank int, most cluster.MilliCPU) cluster.MilliCPU {
	if most > 0 {
		return most
	}
	return p.job.VMs[rank].Reserved.CPU
}

// addCap gives the calls that create copies their caps.
func (p *gangState) addCap(call *hypervisor.Call) {
	if call.Verb == hypervisor.Boot || call.Verb == hypervisor.Restore {
		call.Cap = p.member(call.VM.Rank).cap.most
	}
}

// Cap is the CPU that a VM may use at most where it is; 0 if it is nowhere.
func (e *Executor) Cap(id cluster.VMID) (most cluster.MilliCPU) {
	p, known := e.gangs[id.VJob]
	if !known || id.Rank >= len(p.job.VMs) {
		return 0
	}
	for _, name := range e.seenOn[id] {
		most = max(most, p.ceiling(id.Rank, e.nodes[name].copies[id].Cap))
	}
	return most
}

// Load is the most CPU that the VMs on a node may use: by every copy, unless its gang
// stands still in memory, and every VM that a call may bring that is under way or has ended
// since the last look; a cap that is being changed counts as the larger one.
func (e *Executor) Load(id cluster.NodeID) (sum cluster.MilliCPU) {
	n, known := e.nodes[id]
	if !known {
		return 0
	}
	for vm, c := range n.copies {
		if p, ok := e.gangs[vm.VJob]; ok && vm.Rank < len(p.job.VMs) && (!p.rec.Paused() || c.State == hypervisor.CopyRunning) {
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
		p, ok := e.gangs[vm.VJob]
		if _, there := n.copies[vm]; ok && !there && !coming[vm] && vm.Rank < len(p.job.VMs) && brings(o.call, id) {
			coming[vm] = true
			sum += p.brought(&o.call)
		}
	}
	for job := range e.jobsOn[id] {
		p, ok := e.gangs[job]
		if !ok {
			continue
		}
		for rank := range p.members {
			vm, t := p.job.VMs[rank].ID, &p.members[rank]
			at, touched := t.touched[id]
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
func (e *Executor) admits(call hypervisor.Call, load cluster.MilliCPU, tentative map[cluster.NodeID]claim) bool {
	if e.Admits == nil || load <= 0 {
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
	return e.Admits(more)
}

// wanted is the CPU time that the members would have used since they were last
// accounted, had they got all they need.
func (p *gangState) wanted(dt time.Duration) (sum time.Duration) {
	for rank := range p.meters {
		if !p.rec.Members[rank].Ended {
			sum += time.Duration(float64(dt) * float64(p.meters[rank].wants) / float64(cluster.CPU))
		}
	}
	return sum
}
