package execute

import (
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// memberState is what was last done for one member of a vjob, and the outcome. A restart may
// forget it.
type memberState struct {
	// Of the present phase:
	tries   int
	tried   time.Time // when the last call was issued
	err     error     // of the last call
	revoked int       // the highest attempt to restore that a call has revoked

	absent time.Time // since when no copy is seen where one should be; zero when one is
	cap    capping

	held    map[cluster.NodeID]int    // calls under way on a node
	touched map[cluster.NodeID]uint64 // logical time at which the last call there ended
}

// member returns the state of a member, to be read: an empty one if nothing was ever done for its
// vjob. Maps are shared.
func (p *gangState) member(rank int) memberState {
	if rank >= len(p.members) {
		return memberState{}
	}
	return p.members[rank]
}

// memberOf is the state of a member, to be written; nil: the vjob has no such member. A queue
// may hold a hundred thousand vjobs with none.
func (p *gangState) memberOf(rank int) *memberState {
	if rank >= len(p.job.VMs) {
		return nil
	}
	if p.members == nil {
		p.members = make([]memberState, len(p.job.VMs))
	}
	return &p.members[rank]
}

// hold notes a call that was issued.
func (p *gangState) hold(call hypervisor.Call, at time.Time) {
	t := p.memberOf(call.VM.Rank)
	t.tries++
	t.tried = at
	if t.held == nil {
		t.held = map[cluster.NodeID]int{}
	}
	t.held[call.Node]++
	if call.To != "" {
		t.held[call.To]++
	}
}

// release notes the end of a call at a logical time.
func (p *gangState) release(call hypervisor.Call, at uint64) {
	t := p.memberOf(call.VM.Rank)
	if t.touched == nil {
		t.touched = map[cluster.NodeID]uint64{}
	}
	for _, n := range []cluster.NodeID{call.Node, call.To} {
		if n == "" {
			continue
		}
		if t.held[n] > 1 {
			t.held[n]--
		} else {
			delete(t.held, n)
		}
		t.touched[n] = at
	}
	p.phase.denied = time.Time{} // its patience begins when nothing is under way any more
}

// waitsFor reports whether a look at the node could let the gang go on.
func (p *gangState) waitsFor(node cluster.NodeID) bool {
	for rank := range p.rec.Members {
		m, t := &p.rec.Members[rank], p.member(rank)
		if m.Node == node || m.Next == node || t.held[node] > 0 {
			return true
		}
		if _, ok := t.touched[node]; ok {
			return true
		}
	}
	return false
}

// pace is until when a member is left alone: after a few calls in one phase that
// did not do, the next ones come at growing intervals.
func (t *memberState) pace() time.Time {
	const free = 4
	over := t.tries - free
	if over < 0 {
		return time.Time{}
	}
	return t.tried.Add(time.Second << min(over, 5))
}

// tries counts calls that are made until what they are for is seen.
type tries struct {
	count int
	last  time.Time
}

// next reports whether another call is due, and counts it: each waits twice as long.
func (t *tries) next(now time.Time) bool {
	if now.Before(t.last.Add(backOff(t.count))) {
		return false
	}
	t.count, t.last = t.count+1, now
	return true
}

// backOff is how long after so many tries in a row the next is made, where no gang waits.
func backOff(count int) time.Duration { return 5 * time.Second << min(max(count-1, 0), 6) }
