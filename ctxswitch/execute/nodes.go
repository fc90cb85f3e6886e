package execute

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// nodes is what was observed of the nodes, and when they are looked at.
type nodes struct {
	*batch
	settings *Settings
	gangs    *gangs

	byID    map[cluster.NodeID]*node
	names   []cluster.NodeID         // in order
	sorted  []*node                  // in the same order
	total   cluster.Resources        // of all nodes in any state
	silent  map[cluster.NodeID]*node // those that do not answer to looks; at the start of a large cluster they would be all
	untried int                      // how many have not been looked at since the start
	rounds  rounds                   // looks at those on which nothing is known to have happened
	awaited bool                     // a node that is not down may not be quiet: see [nodes.lookAround]
	offers  uint64                   // counts changes of what nodes offer to VMs
	drawn   map[cluster.NodeID]int64 // joules that were written before the start
	reports nodeReports
	// declared is what [Executor.Declared] returns; nil once that has changed.
	declared []cluster.Node
	// jobsOn lists the vjobs for which a look at a node can matter: they have, or will have, a
	// member there, or had a call there. It may hold vjobs that have left the node, and until the next look vjobs
	// that have ended.
	jobsOn map[cluster.NodeID]map[cluster.VJobID]bool
	// seenOn lists the nodes on which copies of a VM were last seen, in order.
	seenOn map[cluster.VMID][]cluster.NodeID
}

func newNodes(b *batch, settings *Settings, live *gangs) *nodes {
	return &nodes{
		batch: b, settings: settings, gangs: live,
		byID: map[cluster.NodeID]*node{}, silent: map[cluster.NodeID]*node{}, drawn: map[cluster.NodeID]int64{},
		jobsOn: map[cluster.NodeID]map[cluster.VJobID]bool{}, seenOn: map[cluster.VMID][]cluster.NodeID{},
	}
}

// set adds a node or changes its declared state.
func (ns *nodes) set(n cluster.Node) *node {
	known, ok := ns.byID[n.ID]
	if !ok {
		known, ns.awaited = newNode(ns.now), true
		known.power.written = ns.drawn[n.ID]
		ns.byID[n.ID] = known
		at, _ := slices.BinarySearch(ns.names, n.ID)
		ns.names, ns.sorted = slices.Insert(ns.names, at, n.ID), slices.Insert(ns.sorted, at, known)
		ns.reports.list = nil
		ns.untried++
	}
	ns.total = ns.total.Minus(known.Capacity).Plus(n.Capacity)
	known.Node = n
	ns.outdate(known)
	ns.offers++
	ns.declared = nil
	return known
}

// empty notes that nothing is on a node, since it is proven dead.
func (ns *nodes) empty(n *node) {
	ns.forget(n)
	clear(n.arrived)
	n.endings, n.ended, n.seen = nil, nil, false
	ns.outdate(n)
	ns.firstLook(n)
	ns.touchJobsOn(n.ID)
}

// firstLook notes that the node was looked at, and reports whether it is so for the first time
// since the start.
func (ns *nodes) firstLook(n *node) bool {
	if n.tried {
		return false
	}
	n.tried = true
	ns.untried--
	return true
}

// look asks for a look that begins now. While an earlier one is under way, another one follows it.
func (ns *nodes) look(n *node) {
	if n.State == cluster.Down {
		return
	}
	if n.looking {
		n.lookAgain = true
		return
	}
	ns.tick++
	n.looking, n.lookBegan, n.lookAgain = true, ns.tick, false
	ns.out.Looks = append(ns.out.Looks, n.ID)
	if len(n.missing) > 0 {
		ns.out.askFor(n.ID, n.missing)
		n.missing = nil
	}
}

// ask has the next look at a node ask for a missing guest.
func (ns *nodes) ask(n *node, g hypervisor.Guest) {
	n.missing = append(n.missing, g)
	ns.look(n)
}

// hint looks at a node on which something may have changed.
func (ns *nodes) hint(id cluster.NodeID) {
	if n, ok := ns.byID[id]; ok {
		ns.look(n)
	}
}

// lookAround looks at the nodes that are due. While all are quiet it costs no more than the looks.
func (ns *nodes) lookAround() {
	ns.rounds.refill(ns.now, ns.settings.LookEvery)
	from, awaited := ns.rounds.next, false
	for i := range ns.sorted {
		if !ns.awaited && ns.rounds.left < 1 {
			return
		}
		at := (from + i) % len(ns.sorted)
		n := ns.sorted[at]
		awaited = awaited || !n.quiet() && n.State != cluster.Down
		if ns.lookDue(n) && (!n.quiet() || ns.rounds.take(at)) {
			ns.look(n)
		}
	}
	ns.awaited = awaited
}

// quietLooks is how many quiet nodes are looked at per second, on average: 2,500 nodes every five seconds, and more nodes less often. What
// a driver notices on its own causes a look at once, however many nodes there are.
const quietLooks = 500

// rounds is how many quiet nodes may be looked at now, and which comes next.
type rounds struct {
	left float64
	at   time.Time // when left was counted; zero before the first time
	next int       // in the order of names
}

// refill adds what has come since the last time. No more is saved up than for a period in which each node of a small
// cluster is looked at once.
func (r *rounds) refill(now time.Time, every time.Duration) {
	most := quietLooks * max(every, time.Second).Seconds()
	if r.left += quietLooks * now.Sub(r.at).Seconds(); r.at.IsZero() || r.left > most {
		r.left = most
	}
	r.at = now
}

// take takes a look at the node at an index, if one is left.
func (r *rounds) take(at int) bool {
	if r.left < 1 {
		return false
	}
	r.left--
	r.next = at + 1
	return true
}

func (ns *nodes) lookDue(n *node) bool {
	if n.looking {
		return false
	}
	every := ns.settings.LookEvery
	if !n.seen {
		every = ns.settings.Retry
	}
	if n.offLookEvery > 0 {
		every = n.offLookEvery
	}
	return ns.now.Sub(n.lookEnded) >= every
}

// updateSilent puts a node on the list of those that do not answer, or takes it off.
func (ns *nodes) updateSilent(n *node) {
	if n.offered == n.silent() {
		n.offered = !n.offered
		ns.offers++
	}
	for id := range ns.jobsOn[n.ID] {
		if p, live := ns.gangs.live[id]; live {
			ns.changed(p)
		} else {
			delete(ns.jobsOn[n.ID], id) // else each look would cost more than the one before
		}
	}
	switch {
	case n.silent() && n.tried:
		ns.silent[n.ID] = n
	case !n.silent():
		delete(ns.silent, n.ID)
		n.alarmed = false
	}
}

// update replaces what is known of a node, and wakes the gangs that wait for it. If the look has
// news, it also wakes the gangs with copies there, and those that were denied a call: the power
// of all nodes may be lower now.
func (ns *nodes) update(n *node, view hypervisor.View) {
	ended := ns.noteEndings(n, view.Endings)
	news := !n.seen || ended || !n.shows(view.Copies)
	n.asOf, n.problem, n.strangers = n.lookBegan, "", view.Unmanaged
	maps.DeleteFunc(n.arrived, func(_ cluster.VMID, ended uint64) bool { return ended < n.asOf })
	ns.warn(n, view.Warnings)
	n.software = view.Software
	ns.setPlatforms(n, view.Platforms)
	if news {
		ns.forget(n)
	}
	for _, c := range view.Copies {
		if news {
			ns.find(n, c)
		}
		set(&n.copies, c.VM, c)
	}
	if news {
		n.list()
		ns.touchWaiters()
	}
	for id := range ns.jobsOn[n.ID] {
		if p, active := ns.gangs.active[id]; active && p.waitsFor(n.ID) {
			ns.dirty[id] = true
		}
	}
}

// noteEndings notes which guests have ended on a node, and reports whether that is news. Drivers remember endings for long; few are
// of vjobs that are live, and only these are looked at often.
func (ns *nodes) noteEndings(n *node, list []hypervisor.Ending) (news bool) {
	if sameEndings(n.endings, list) {
		return false
	}
	n.endings, n.ended = list, nil
	for _, e := range list {
		if _, live := ns.gangs.live[e.VM.VJob]; live {
			n.ended = append(n.ended, e)
		}
	}
	return true
}

// sameEndings reports whether two lists are equal. Drivers return the same list while nothing ends.
func sameEndings(a, b []hypervisor.Ending) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// find notes where a copy is, and wakes its gang.
func (ns *nodes) find(n *node, c hypervisor.Copy) {
	ns.seenOn[c.VM] = append(ns.seenOn[c.VM], n.ID)
	slices.Sort(ns.seenOn[c.VM])
	ns.dirty[c.VM.VJob] = true
}

// forget drops what was seen on a node, and wakes the gangs that it concerned.
func (ns *nodes) forget(n *node) {
	for id := range n.copies {
		ns.dirty[id.VJob] = true
		ns.seenOn[id] = slices.DeleteFunc(ns.seenOn[id], func(at cluster.NodeID) bool { return at == n.ID })
		if len(ns.seenOn[id]) == 0 {
			delete(ns.seenOn, id)
		}
	}
	clear(n.copies)
	n.list()
}

// warn takes in the warnings of a node, and tells of new ones. This process has told of those of a node that answered
// before.
func (ns *nodes) warn(n *node, warnings []string) {
	if len(warnings) > 0 && !n.answered && !slices.Equal(n.warnings, warnings) {
		ns.event(journal.Event{Kind: journal.EventNode, Node: n.ID, Text: fmt.Sprintf("node %s: %s", n.ID, strings.Join(warnings, "; "))})
	}
	n.warnings = warnings
}

func (ns *nodes) tell(n *node) {
	if n.offLookEvery > 0 {
		return // the power controller reports what becomes of it
	}
	text := fmt.Sprintf("node %s answers", n.ID)
	if !n.seen {
		text = fmt.Sprintf("node %s does not answer: %s", n.ID, n.problem)
	}
	ns.event(journal.Event{Kind: journal.EventNode, Node: n.ID, Text: text})
}

// renew notes that a VM counts for more or less on its nodes.
func (ns *nodes) renew(vm cluster.VMID) {
	for _, id := range ns.seenOn[vm] {
		ns.outdate(ns.byID[id])
	}
}

// renewAll does so for the VMs of a vjob.
func (ns *nodes) renewAll(job *cluster.VJob) {
	most := len(job.VMs)
	for i := range job.Shapes { // copies of an earlier life may be left
		most = max(most, len(job.Shapes[i].VMs))
	}
	for rank := range most {
		ns.renew(cluster.VMID{VJob: job.ID, Rank: rank})
	}
}

// updateJobsOnAll enters where the members of a gang are and go.
func (ns *nodes) updateJobsOnAll(p *gangState) {
	for _, m := range p.rec.Members {
		for _, id := range []cluster.NodeID{m.Node, m.Next} {
			if id != "" {
				ns.updateJobsOn(id, p.job.ID)
			}
		}
	}
}

func (ns *nodes) updateJobsOn(id cluster.NodeID, vjob cluster.VJobID) {
	if ns.jobsOn[id] == nil {
		ns.jobsOn[id] = map[cluster.VJobID]bool{}
	}
	ns.jobsOn[id][vjob] = true
}

// touchJobsOn wakes every gang that a node concerns: whether it is seen has
// changed. Entries of gangs that have left are dropped on the way.
func (ns *nodes) touchJobsOn(id cluster.NodeID) {
	for job := range ns.jobsOn[id] {
		p, live := ns.gangs.live[job]
		if !live || !p.waitsFor(id) {
			delete(ns.jobsOn[id], job)
			continue
		}
		ns.dirty[job] = true
	}
}

func (ns *nodes) fenced(id cluster.NodeID) bool {
	n, ok := ns.byID[id]
	return ok && n.State == cluster.Down
}

// seen reports whether a node has answered to its last look.
func (ns *nodes) seen(id cluster.NodeID) bool {
	n, known := ns.byID[id]
	return known && n.seen
}

// wake passes on when nodes that do not answer are looked at again.
func (ns *nodes) wake(at func(time.Time)) {
	for _, n := range ns.silent {
		at(n.lookEnded.Add(ns.settings.Retry))
		if !n.alarmed {
			at(n.seenSince.Add(silentAlarm))
		}
	}
}

// mayHide reports whether a node that does not answer may hold a copy of a member.
func (ns *nodes) mayHide(p *gangState) bool {
	silent := func(id cluster.NodeID) bool {
		n, ok := ns.byID[id]
		return id != "" && (!ok || n.silent())
	}
	for rank := range p.rec.Members {
		m, t := &p.rec.Members[rank], p.member(rank)
		if silent(m.Node) || silent(m.Next) {
			return true
		}
		for id := range t.openCalls {
			if silent(id) {
				return true
			}
		}
		for id := range t.touched {
			if silent(id) {
				return true
			}
		}
	}
	return false
}
