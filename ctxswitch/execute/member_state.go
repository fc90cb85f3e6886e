package execute

import (
	"errors"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
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
	noRoom  bool      // the last call that was wanted was refused for want of room or power

	absent time.Time // since when no copy is seen where one should be; zero when one is
	asked  uint64    // logical time after which looks ask for the guest since then
	tuning tuning

	openCalls map[cluster.NodeID]int    // calls under way on a node
	touched   map[cluster.NodeID]uint64 // logical time at which the last call there ended
}

// noMember is the state of all members of vjobs for which nothing was ever done; it never changes.
var noMember memberState

// member returns the state of a member, to be read.
func (p *gangState) member(rank int) *memberState {
	if rank >= len(p.members) {
		return &noMember
	}
	return &p.members[rank]
}

// memberOf is the state of a member, to be written; nil: the vjob has no such member. A queue
// may hold a hundred thousand vjobs with none.
func (p *gangState) memberOf(rank int) *memberState {
	if rank >= len(p.job.VMs) {
		return nil
	}
	p.begin()
	if p.members == nil {
		p.members = make([]memberState, len(p.job.VMs))
	}
	return &p.members[rank]
}

// callBegan notes a call that was issued.
func (p *gangState) callBegan(call hypervisor.Call, at time.Time) {
	t := p.memberOf(call.VM.Rank)
	t.tries++
	t.tried = at
	if t.openCalls == nil {
		t.openCalls = map[cluster.NodeID]int{}
	}
	t.openCalls[call.Node]++
	if call.To != "" {
		t.openCalls[call.To]++
	}
}

// callEnded notes the end of a call at a logical time.
func (p *gangState) callEnded(call hypervisor.Call, at uint64) {
	t := p.memberOf(call.VM.Rank)
	if t.touched == nil {
		t.touched = map[cluster.NodeID]uint64{}
	}
	for _, n := range []cluster.NodeID{call.Node, call.To} {
		if n == "" {
			continue
		}
		if t.openCalls[n] > 1 {
			t.openCalls[n]--
		} else {
			delete(t.openCalls, n)
		}
		t.touched[n] = at
	}
	p.phase.deniedSince = time.Time{} // the time to wait for room begins when nothing is under way any more
}

// waitsFor reports whether a look at the node could let the gang go on.
func (p *gangState) waitsFor(node cluster.NodeID) bool {
	for rank := range p.rec.Members {
		m, t := &p.rec.Members[rank], p.member(rank)
		if m.Node == node || m.Next == node || t.openCalls[node] > 0 {
			return true
		}
		if _, ok := t.touched[node]; ok {
			return true
		}
	}
	return false
}

// nextCall is the time before which no call is made for the member: after a few calls in one phase
// without success, the next ones come at growing intervals.
func (t *memberState) nextCall() time.Time {
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

// addTuning gives the calls that create copies their caps and weights.
func (p *gangState) addTuning(call *hypervisor.Call) {
	if call.Verb == hypervisor.Boot || call.Verb == hypervisor.Restore {
		w := p.member(call.VM.Rank).tuning
		call.Cap, call.Weight = w.most, w.weight
	}
}

// maxCPU is the most CPU that a member uses under a cap. Without a cap it is what the member has
// reserved.
func (p *gangState) maxCPU(rank int, most cluster.MilliCPU) cluster.MilliCPU {
	if most > 0 {
		return most
	}
	return p.job.VMs[rank].Reserved.CPU
}

// broughtCPU is the most that a VM uses that a call brings to a node: a migration takes its cap
// along, and what is created has the cap that it was begun with.
func (p *gangState) broughtCPU(call *hypervisor.Call) cluster.MilliCPU {
	most := call.Cap
	if call.Verb == hypervisor.Migrate {
		most = p.member(call.VM.Rank).tuning.most
	}
	return p.maxCPU(call.VM.Rank, most)
}

// recordRefusals notes the nodes on which a member could not be created: the next attempt is made
// elsewhere, if that is possible. The gang leaves a phase, or gives the move of a member
// up.
func (p *gangState) recordRefusals(before, after *gang.Record, now time.Time) {
	gaveUp := before.Phase == gang.Creating && after.Phase == gang.Clearing ||
		before.Phase == gang.Restoring && (after.Then == gang.ThenSave || after.Phase == gang.Saving)
	moves := before.Phase == gang.Moving || before.Phase == gang.Shifting
	for rank := range before.Members {
		next := before.Members[rank].Next
		stays := moves && after.Members[rank].Next == "" && after.Members[rank].Node != next
		if next == "" || p.member(rank).err == nil || !gaveUp && !stays {
			continue
		}
		p.failures.refuse(Refusal{VM: p.job.VMs[rank].ID, Node: next, At: now, Why: p.member(rank).err.Error()})
	}
}

// learn records what a reply says beyond success.
func (p *gangState) learn(call hypervisor.Call, r Reply) {
	t := p.memberOf(call.VM.Rank)
	if errors.Is(r.Err, ErrNotTried) {
		t.tries--
		return
	}
	if r.Err != nil || call.Verb != hypervisor.Revoke { // a revoke that ends well says nothing of the restore
		t.err = r.Err
	}
	p.timing().replied(&call, &r)
	p.phase.widen(call.Verb, r.Began, r.Ended)
	if r.Err != nil {
		return
	}
	switch call.Verb {
	case hypervisor.Revoke:
		t.revoked = max(t.revoked, call.Attempt)
	case hypervisor.Seal:
		if p.phase.sealed == nil {
			p.phase.sealed = map[string]*gang.Image{}
		}
		p.phase.sealed[call.Image.String()] = &gang.Image{
			ID: call.Image, Node: call.Node, Bytes: r.Receipt.Bytes, Checksum: r.Receipt.Checksum,
			Incarnation: r.Receipt.Incarnation,
		}
	case hypervisor.Discard:
		if p.phase.discarded == nil {
			p.phase.discarded = map[hypervisor.ImageID]bool{}
		}
		p.phase.discarded[call.Image] = true
	default:
	}
}
