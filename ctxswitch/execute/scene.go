package execute

import (
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// scene returns what a gang may know now.
func (e *Executor) scene(p *gangState) gang.Scene {
	s := gang.Scene{
		Now: e.now, VJob: p.job, Limits: e.settings.Limits, Epoch: e.epoch,
		Skew: p.skew(), Retreat: p.retreat, Sights: make([]gang.Sight, len(p.rec.Members)),
	}
	for rank := range p.rec.Members {
		s.Sights[rank] = e.sight(p, rank)
	}
	if e.store.seen && e.store.began > p.store {
		s.Store, s.StoreAt = &e.store.Store, e.store.at
	}
	tentative := map[cluster.NodeID]claim{}
	s.May = func(call hypervisor.Call) bool { return e.may(p, call, tentative) }
	s.Space = func(need map[cluster.NodeID]cluster.MiB) string { return e.space(p, need) }
	return s
}

// sight is one member: where copies of it were seen, which silent nodes may hold
// one, and whether calls are still open.
func (e *Executor) sight(p *gangState, rank int) gang.Sight {
	if p.job.Container {
		return e.containerSight(p, rank)
	}
	t := p.member(rank)
	s := gang.Sight{
		Tries: t.tries, Err: t.err, Revoked: t.revoked, Sealed: p.sealed, Discarded: p.discarded, More: p.moreHops(rank),
	}
	id := p.job.VMs[rank].ID
	for _, name := range e.seenOn[id] {
		if n := e.nodes[name]; n.seen {
			s.Found = append(s.Found, gang.Found{Node: name, Copy: n.copies[id]})
			s.Late = s.Late || e.late(p, rank, n.copies[id].Job)
		}
	}
	for _, name := range e.possibleNodes(p, rank) {
		n, known := e.nodes[name]
		switch {
		case known && n.provenEmpty():
			continue
		case known && !n.tried:
			s.Busy = true // not looked at since the start: it may be silent
			continue
		case !known || !n.seen:
			s.Blind = append(s.Blind, name)
			continue
		case t.held[name] > 0 || n.began <= t.touched[name]:
			s.Busy = true
		default:
			delete(t.touched, name) // its effect, if any, has been seen
		}
		for _, ending := range n.endings {
			if ending.VM == id && ending.Stamp.Incarnation == p.rec.Incarnation {
				s.Gone, s.Cause = true, ending.Cause
			}
		}
	}
	s.Rests = !s.Busy && e.now.Before(t.pace())
	s.Busy = s.Busy || s.Rests
	s.Absent = e.absent(p, rank, len(s.Found) == 0 && !s.Busy && len(s.Blind) == 0)
	if m := p.rec.Members[rank]; m.Node != "" && e.fenced(m.Node) && m.Next == "" {
		s.Gone, s.Cause, s.Fenced = true, hypervisor.CauseCrashed, true
	}
	return s
}

// absent keeps since when a member that should have a copy is not seen.
func (e *Executor) absent(p *gangState, rank int, missing bool) time.Duration {
	if m := &p.rec.Members[rank]; !missing || m.Ended || m.Node == "" {
		if p.members != nil {
			p.members[rank].absent = time.Time{}
		}
		return 0
	}
	t := p.memberOf(rank)
	if t.absent.IsZero() {
		t.absent = e.now
	}
	return e.now.Sub(t.absent)
}

// verbs are those of the calls that make the jobs on copies.
var verbs = map[hypervisor.Job]hypervisor.Verb{
	hypervisor.JobSaving: hypervisor.Save, hypervisor.JobRestoring: hypervisor.Restore,
	hypervisor.JobOutgoing: hypervisor.Migrate, hypervisor.JobIncoming: hypervisor.Migrate,
}

// late reports whether a job on a copy of a member lasts far longer than a call
// of its kind may.
func (e *Executor) late(p *gangState, rank int, job hypervisor.Job) bool {
	verb, ok := verbs[job]
	if !ok {
		return false
	}
	since := p.member(rank).tried
	if since.IsZero() {
		since = p.born
	}
	call := hypervisor.Call{Verb: verb, VM: p.job.VMs[rank].ID}
	return e.now.Sub(since) > 2*e.deadline(p, call)
}

func (e *Executor) fenced(id cluster.NodeID) bool {
	n, ok := e.nodes[id]
	return ok && n.State == cluster.Down
}

// possibleNodes returns the nodes where a copy of a member may be, in order.
func (e *Executor) possibleNodes(p *gangState, rank int) []cluster.NodeID {
	var list []cluster.NodeID
	m, t := &p.rec.Members[rank], p.member(rank)
	for _, id := range [...]cluster.NodeID{m.Node, m.Next} {
		if id != "" {
			list = append(list, id)
		}
	}
	list = slices.AppendSeq(slices.AppendSeq(list, maps.Keys(t.held)), maps.Keys(t.touched))
	slices.Sort(list)
	return slices.Compact(list)
}
