package execute

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// Caps and weights are level-triggered and lie beside the protocol of gangs: whatever a gang is
// doing, each copy is to have the cap and the weight that are wanted of its member. A boot and a
// restore bring them; where a look shows others, because they were changed or have got lost, they
// are set again. Nothing waits for it, so VMs run on a host that has neither.

// tuner sets the caps and weights of copies.
type tuner struct {
	*batch
	hooks *Hooks
	gangs *gangs
	nodes *nodes
	calls *calls
	due   time.Time // when a call that had no effect is repeated; zero: none is
}

// tuning is what is wanted of the cap and the weight of a member, and how setting them went.
type tuning struct {
	most   cluster.MilliCPU // 0 is no cap
	weight int              // 0: as it is
	tries  int              // in a row that did not lead to it
	tried  time.Time
	asked  cluster.MilliCPU // the cap of the last call
	ended  uint64           // logical time at which the last call for it ended
}

// wantCaps takes in how much CPU each member of a gang gets at most; nil: no member has a cap.
func (tn *tuner) wantCaps(p *gangState, caps []cluster.MilliCPU) {
	if !p.capped {
		p.capped = true
		if !p.untouched() { // otherwise it has no copies
			tn.dirty[p.job.ID] = true
		}
	}
	if caps == nil && p.members == nil {
		return
	}
	for rank := range p.job.VMs {
		most := cluster.MilliCPU(0)
		if caps != nil {
			most = caps[rank]
		}
		if p.member(rank).tuning.most != most {
			w := &p.memberOf(rank).tuning
			w.most, w.tries = most, 0
			tn.changed(p)
			tn.dirty[p.job.ID] = true
		}
	}
}

// wantWeights takes in the weight of each member of a gang.
func (tn *tuner) wantWeights(p *gangState, weights []int) {
	for rank := range weights {
		if p.member(rank).tuning.weight != weights[rank] {
			w := &p.memberOf(rank).tuning
			w.weight, w.tries = weights[rank], 0
			tn.dirty[p.job.ID] = true
		}
	}
	p.weighted = p.weighted || len(weights) > 0
}

// correct sets the caps and weights of copies that have others than are wanted. After a start they
// are left alone until they are set.
func (tn *tuner) correct(p *gangState) {
	if !p.capped && !p.weighted {
		return
	}
	for rank := range p.job.VMs {
		id := p.job.VMs[rank].ID
		for _, name := range tn.nodes.seenOn[id] {
			n := tn.nodes.byID[name]
			c := n.copies[id]
			w := &p.memberOf(rank).tuning
			if (!p.capped || c.Cap == w.most) && w.weighs(&c) {
				w.tries = 0
				continue
			}
			fresh := n.seen && n.asOf > w.ended
			if fresh && c.State != hypervisor.CopyDead && c.Job == hypervisor.JobNone && !n.tuning(id) {
				tn.set(p, rank, name, &c)
			}
		}
	}
}

// weighs reports whether a copy has the weight that is wanted. A node that does not tell weights
// gives all copies the same.
func (w *tuning) weighs(c *hypervisor.Copy) bool {
	return w.weight == 0 || w.weight == cmp.Or(c.Weight, hypervisor.DefaultWeight)
}

// wakeDue wakes the gangs of which a cap or a weight did not come about, when it is time.
func (tn *tuner) wakeDue() {
	if tn.due.IsZero() || tn.now.Before(tn.due) {
		return
	}
	tn.due = time.Time{}
	for id, p := range tn.gangs.live {
		if slices.ContainsFunc(p.members, func(t memberState) bool { return t.tuning.tries > 0 }) {
			tn.dirty[id] = true
		}
	}
}

// set sets the cap and the weight of one copy, if its time has come and there is the power for it.
func (tn *tuner) set(p *gangState, rank int, at cluster.NodeID, c *hypervisor.Copy) {
	w := &p.memberOf(rank).tuning
	if w.tries > 0 && tn.now.Before(w.nextTry()) {
		tn.due = sooner(tn.due, w.nextTry())
		return
	}
	most := c.Cap
	if p.capped {
		most = w.most
	}
	more := p.maxCPU(rank, most) - p.maxCPU(rank, c.Cap)
	if more > 0 && tn.hooks.Admits != nil && !tn.hooks.Admits(map[cluster.NodeID]cluster.MilliCPU{at: more}) {
		tn.denied[p.job.ID] = true
		return
	}
	w.tries++
	w.tried, w.asked = tn.now, most
	tn.calls.begin([]hypervisor.Call{{Verb: hypervisor.Tune, VM: c.VM, Node: at, Cap: most, Weight: w.weight}}, p.plan(), false,
		func(hypervisor.Call) time.Duration { return leastDeadline })
}

// nextTry is the time before which a call that had no effect is not repeated.
func (w *tuning) nextTry() time.Time { return w.tried.Add(backOff(w.tries)) }

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// refused tells, once in a phase, that a copy has not got its cap and its weight.
func (tn *tuner) refused(p *gangState, call *hypervisor.Call, err error) {
	switch {
	case err == nil || errors.Is(err, hypervisor.ErrNoSuchVM): // one that has left needs none
	case call.Weight > 0:
		tn.alarm(p, journal.AlarmCPULimit, fmt.Sprintf("%s on %s: CPU weight %d and cap %s cannot be set: %s", call.VM, call.Node, call.Weight, call.Cap, err))
	default:
		tn.alarm(p, journal.AlarmCPULimit, fmt.Sprintf("%s on %s: its share of CPU cannot be limited to %s: %s", call.VM, call.Node, call.Cap, err))
	}
}

// ended notes the end of a call at a logical time. If it had no effect, the next one comes later.
func (tn *tuner) ended(p *gangState, rank int, at uint64) {
	if t := p.memberOf(rank); t != nil {
		t.tuning.ended = at
		tn.due = sooner(tn.due, t.tuning.nextTry())
	}
}
