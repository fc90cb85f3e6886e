package execute

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// inputs gathers what the protocol of a gang may know.
type inputs struct {
	*batch
	settings *Settings
	gangs    *gangs
	nodes    *nodes
	store    *store
	calls    *calls
	capacity *capacity
}

// input returns what a gang may know now.
func (in *inputs) input(p *gangState) gang.Input {
	s := gang.Input{
		Now: in.now, VJob: p.job, Limits: in.settings.Limits, Epoch: in.calls.epoch,
		Skew: p.phase.skew(), Retreat: p.phase.retreat, Sights: make([]gang.Sight, len(p.rec.Members)),
	}
	for rank := range p.rec.Members {
		s.Sights[rank] = in.sight(p, rank)
	}
	if in.store.seen && in.store.asOf > p.store {
		s.Store, s.StoreAt = &in.store.shown, in.store.lookedAt
	}
	tentative := map[cluster.NodeID]claim{}
	s.May = func(call hypervisor.Call) bool {
		p.timing().asks(in.now)
		return in.capacity.may(p, call, tentative)
	}
	s.Space = func(need map[cluster.NodeID]cluster.MiB) string { return in.store.lack(p, need) }
	return s
}

// sight is one member: where copies of it were seen, which silent nodes may hold
// one, and whether calls are still open.
func (in *inputs) sight(p *gangState, rank int) gang.Sight {
	if p.job.Container {
		return in.containerSight(p, rank)
	}
	t := p.member(rank)
	s := gang.Sight{
		Tries: t.tries, Err: t.err, Revoked: t.revoked, Sealed: p.phase.sealed, Discarded: p.phase.discarded, More: p.moreHops(rank),
	}
	id := p.job.VMs[rank].ID
	for _, name := range in.nodes.seenOn[id] {
		if n := in.nodes.byID[name]; n.seen {
			s.Found = append(s.Found, gang.Found{Node: name, Copy: n.copies[id]})
			s.Late = s.Late || in.late(p, rank, name, n.copies[id].Job)
		}
	}
	var room [4]cluster.NodeID
	for _, name := range in.possibleNodes(room[:0], p, rank) {
		n, known := in.nodes.byID[name]
		switch {
		case known && n.provenEmpty():
			continue
		case known && !n.tried:
			s.Busy = true // not looked at since the start: it may be silent
			continue
		case !known || !n.seen:
			s.Blind = append(s.Blind, name)
			continue
		case t.openCalls[name] > 0 || n.asOf <= t.touched[name]:
			s.Busy = true
		default:
			delete(t.touched, name) // its effect, if any, has been seen
		}
		for _, ending := range n.ended {
			if ending.VM == id && ending.Stamp.Incarnation == p.rec.Incarnation {
				s.Gone, s.Cause, s.Exit = true, ending.Cause, ending.Exit
			}
		}
	}
	s.BacksOff = !s.Busy && in.now.Before(t.nextCall())
	s.Busy = s.Busy || s.BacksOff
	s.Absent = in.absent(p, rank, len(s.Found) == 0 && !s.Busy && len(s.Blind) == 0)
	if m := p.rec.Members[rank]; m.Node != "" && in.nodes.fenced(m.Node) && m.Next == "" {
		s.Gone, s.Cause, s.Fenced = true, hypervisor.CauseCrashed, true
	}
	return s
}

// absent keeps since when a member that should have a copy is not seen.
func (in *inputs) absent(p *gangState, rank int, missing bool) time.Duration {
	if m := &p.rec.Members[rank]; !missing || m.Ended || m.Node == "" {
		if p.members != nil {
			p.members[rank].absent = time.Time{}
		}
		return 0
	}
	t := p.memberOf(rank)
	if t.absent.IsZero() {
		t.absent, t.asked = in.now, in.nodes.tick
		for _, n := range in.askable(p, rank) {
			in.nodes.ask(n, hypervisor.Guest{VM: p.job.VMs[rank].ID, Incarnation: p.rec.Incarnation})
		}
	}
	since := in.now.Sub(t.absent)
	for _, n := range in.askable(p, rank) {
		if n.asOf <= t.asked { // the console may still tell how the guest ended
			return min(since, in.settings.Limits.DepartureGrace-1)
		}
	}
	return since
}

// askable returns the nodes where a copy of a member may be that can be asked for it.
func (in *inputs) askable(p *gangState, rank int) (list []*node) {
	if in.settings.Limits.DepartureGrace == 0 || !p.rec.Phase.HasCopies() {
		return nil // nothing is waited for
	}
	for _, name := range in.possibleNodes(nil, p, rank) {
		if n, known := in.nodes.byID[name]; known && !n.provenEmpty() {
			list = append(list, n)
		}
	}
	return list
}

// verbs are those of the calls that make the jobs on copies.
var verbs = map[hypervisor.Job]hypervisor.Verb{
	hypervisor.JobSaving: hypervisor.Save, hypervisor.JobRestoring: hypervisor.Restore,
	hypervisor.JobOutgoing: hypervisor.Migrate, hypervisor.JobIncoming: hypervisor.Migrate,
}

// late reports whether a job on the copy of a member on a node lasts far longer than a call
// of its kind may.
func (in *inputs) late(p *gangState, rank int, node cluster.NodeID, job hypervisor.Job) bool {
	verb, ok := verbs[job]
	if !ok {
		return false
	}
	since := p.member(rank).tried
	if since.IsZero() {
		since = p.born
	}
	call := hypervisor.Call{Verb: verb, VM: p.job.VMs[rank].ID, Node: node, To: p.rec.Members[rank].Next}
	return in.now.Sub(since) > 2*in.calls.deadline(p, call)
}

// possibleNodes returns the nodes where a copy of a member may be, in order, in an empty list.
func (in *inputs) possibleNodes(list []cluster.NodeID, p *gangState, rank int) []cluster.NodeID {
	m, t := &p.rec.Members[rank], p.member(rank)
	for _, id := range [...]cluster.NodeID{m.Node, m.Next} {
		if id != "" {
			list = append(list, id)
		}
	}
	for id := range t.openCalls {
		list = append(list, id)
	}
	for id := range t.touched {
		list = append(list, id)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// step asks the protocol for the next turn of a gang.
func (in *inputs) step(p *gangState) gang.Turn {
	if p.job.Container {
		return gang.StepContainer(*p.rec, in.input(p), in.inside(p))
	}
	return gang.Step(*p.rec, in.input(p))
}

// containerSight is all that is to be seen of a member of a container: whether its node is lost.
func (in *inputs) containerSight(p *gangState, rank int) gang.Sight {
	return gang.Sight{Gone: in.nodes.fenced(p.rec.Members[rank].Node)}
}

// inside says which vjobs have to leave before a container can give its room back, "" for none.
func (in *inputs) inside(p *gangState) string {
	if p.rec.Phase != gang.Clearing {
		return ""
	}
	var inside []cluster.VJobID
	for id, q := range in.gangs.live {
		if q.job.Inner == p.job.ID && !q.away() {
			inside = append(inside, id)
		}
	}
	switch n := len(inside); n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("vjob %s is still inside", inside[0])
	default:
		return fmt.Sprintf("vjob %s and %d more are still inside", slices.Min(inside), n-1)
	}
}
