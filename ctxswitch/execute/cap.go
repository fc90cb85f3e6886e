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

// caps sets the caps of copies.
type caps struct {
	*batch
	hooks *Hooks
	gangs *gangs
	nodes *nodes
	calls *calls
	due   time.Time // when a cap that did not come about is tried again; zero: none is
}

// capping is what is wanted of a member's cap, and how setting it went.
type capping struct {
	most  cluster.MilliCPU // 0 is no cap
	tries int              // in a row that did not lead to it
	tried time.Time
	asked cluster.MilliCPU // by the last call
	ended uint64           // logical time at which the last call for it ended
}

// want takes in how much CPU each member of a gang gets at most.
func (cl *caps) want(p *gangState, most []cluster.MilliCPU) {
	if !p.capped {
		p.capped = true
		cl.dirty[p.job.ID] = true
	}
	for rank := range most {
		if p.member(rank).cap.most != most[rank] {
			w := &p.memberOf(rank).cap
			w.most, w.tries = most[rank], 0
			cl.dirty[p.job.ID] = true
		}
	}
}

// correct sets the caps of copies that have another one than is wanted. After a start they
// are left alone until they are set.
func (cl *caps) correct(p *gangState) {
	if !p.capped {
		return
	}
	for rank := range p.job.VMs {
		id := p.job.VMs[rank].ID
		for _, name := range cl.nodes.seenOn[id] {
			n := cl.nodes.byID[name]
			c := n.copies[id]
			w := &p.memberOf(rank).cap
			if c.Cap == w.most {
				w.tries = 0
				continue
			}
			fresh := n.seen && n.asOf > w.ended
			if fresh && c.State != hypervisor.CopyDead && c.Job == hypervisor.JobNone && !n.capping(id) {
				cl.set(p, rank, name, &c)
			}
		}
	}
}

// wakeDue wakes the gangs of which a cap did not come about, when it is time.
func (cl *caps) wakeDue() {
	if cl.due.IsZero() || cl.now.Before(cl.due) {
		return
	}
	cl.due = time.Time{}
	for id, p := range cl.gangs.live {
		if slices.ContainsFunc(p.members, func(t memberState) bool { return t.cap.tries > 0 }) {
			cl.dirty[id] = true
		}
	}
}

// set sets the cap of one copy, if its time has come and there is the power for it.
func (cl *caps) set(p *gangState, rank int, at cluster.NodeID, c *hypervisor.Copy) {
	w := &p.memberOf(rank).cap
	if w.tries > 0 && cl.now.Before(w.nextTry()) {
		cl.due = sooner(cl.due, w.nextTry())
		return
	}
	more := p.maxCPU(rank, w.most) - p.maxCPU(rank, c.Cap)
	if more > 0 && cl.hooks.Admits != nil && !cl.hooks.Admits(map[cluster.NodeID]cluster.MilliCPU{at: more}) {
		cl.denied[p.job.ID] = true
		return
	}
	w.tries++
	w.tried, w.asked = cl.now, w.most
	cl.calls.begin([]hypervisor.Call{{Verb: hypervisor.Cap, VM: c.VM, Node: at, Cap: w.most}}, p.plan(), false,
		func(hypervisor.Call) time.Duration { return leastDeadline })
}

// nextTry is the time before which a cap that was not set is not tried again.
func (w *capping) nextTry() time.Time { return w.tried.Add(backOff(w.tries)) }

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// refused tells, once in a phase, that a copy has not got its cap.
func (cl *caps) refused(p *gangState, call *hypervisor.Call, err error) {
	if err != nil && !errors.Is(err, hypervisor.ErrNoSuchVM) { // one that has left needs no cap
		cl.alarm(p, fmt.Sprintf("%s on %s: its share of CPU cannot be limited to %s: %s", call.VM, call.Node, call.Cap, err))
	}
}

// ended notes the end of a call for a cap at a logical time. If the cap was not set, the next call
// comes later.
func (cl *caps) ended(p *gangState, rank int, at uint64) {
	if t := p.memberOf(rank); t != nil {
		t.cap.ended = at
		cl.due = sooner(cl.due, t.cap.nextTry())
	}
}
