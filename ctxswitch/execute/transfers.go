package execute

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// Plans state when each transfer has a slot of its nodes. Slots are given in that order: of the gangs
// that could use one, the first in the plan is driven first, and a gang is not paused before its
// transfers can begin. A transfer that could begin before its time in the plan does so only if it takes
// no slot that an earlier one needs, which may still wait for other actions. After that time it takes
// what is free. A plan made meanwhile counts with what is ahead of it.

// isTransfer reports whether a call holds a transfer slot on its nodes.
func isTransfer(v hypervisor.Verb) bool {
	return v == hypervisor.Save || v == hypervisor.Restore || v == hypervisor.Migrate
}

// transfers counts the transfers under way on a node.
func (cp *capacity) transfers(id cluster.NodeID) int {
	node, ok := cp.nodes.byID[id]
	if !ok {
		return 0
	}
	n := 0
	for _, o := range node.ops {
		if isTransfer(o.call.Verb) {
			n++
		}
	}
	return n
}

// pausing counts the members on a node, or on their way to it, of gangs that are being paused for
// their transfers.
func (cp *capacity) pausing(id cluster.NodeID) (n int) {
	for job := range cp.nodes.jobsOn[id] {
		p, ok := cp.gangs.live[job]
		if !ok || p.rec.Phase != gang.Pausing || p.rec.Then == gang.ThenStand {
			continue
		}
		for _, m := range p.rec.Members {
			if !m.Ended && (m.Next == id || m.Node == id && (p.rec.Then == gang.ThenSave || m.Next != "")) {
				n++
			}
		}
	}
	return n
}

// mayPause reports whether a gang may be paused for its transfers: a slot is free on each of their
// nodes. A gang that could begin, and has waited for [Settings.RoomTimeout] since then and since the
// time of its plan, begins in any case and waits for its slots paused, so that others cannot overtake
// it for ever.
func (en *engine) mayPause(p *gangState, a *assignment) bool {
	if p.rec.Phase == gang.Paused || a.gang.Kind != cluster.Suspend && (a.gang.Kind != cluster.Migrate || a.live()) {
		return true
	}
	if a.readyAt.IsZero() {
		a.readyAt = en.now
	}
	due := a.readyAt
	for _, id := range a.gang.Actions {
		if at := a.plan.planned(id); at.After(due) {
			due = at
		}
	}
	if en.now.Sub(due) >= en.settings.RoomTimeout {
		return true
	}
	for _, id := range a.gang.Actions {
		act := &a.plan.actions[id]
		for _, n := range transferNodes(act) {
			if en.capacity.transfers(n)+en.capacity.pausing(n) >= en.settings.Transfers {
				en.denied[p.job.ID] = true
				return false
			}
		}
		if en.capacity.overtakes(p, act, nil) {
			return false
		}
	}
	return true
}

// overtakes reports whether a transfer would begin before its time and take a slot that earlier ones
// need. Its gang is woken at that time. One that lacks room needs no slot: this transfer may make the room.
func (cp *capacity) overtakes(p *gangState, act *ctxswitch.Action, tentative map[cluster.NodeID]claim) bool {
	due := p.todo[0].plan.planned(act.ID)
	if !cp.now.Before(due) {
		return false
	}
	for _, n := range transferNodes(act) {
		need := cp.transfers(n) + tentative[n].transfers + 1
		for t := range cp.gangs.promises.on(n) {
			if t.gang != p && t.at.Before(due) && !t.gang.member(t.action.VM.Rank).noRoom {
				need++
			}
		}
		if need > cp.settings.Transfers {
			p.begin()
			cp.denied[p.job.ID], p.notBefore = true, due
			return true
		}
	}
	return false
}

// actionOf returns the action that a member carries out now or next; may be nil.
func (p *gangState) actionOf(rank int) *ctxswitch.Action {
	if len(p.todo) == 0 {
		return nil
	}
	act, _ := p.todo[0].hop(rank)
	return act
}

// transferNodes returns the nodes on which an action holds a transfer slot.
func transferNodes(a *ctxswitch.Action) []cluster.NodeID {
	switch a.Kind {
	case cluster.Suspend:
		return []cluster.NodeID{a.From}
	case cluster.Resume:
		return []cluster.NodeID{a.To}
	case cluster.Migrate:
		return []cluster.NodeID{a.From, a.To}
	default:
		return nil
	}
}

// planned returns when the plan lets an action start.
func (r *activePlan) planned(id ctxswitch.ActionID) time.Time {
	return r.began.Add(r.actions[id].Start)
}

// promise is a transfer of a plan.
type promise struct {
	gang   *gangState
	of     *assignment
	action *ctxswitch.Action
	at     time.Time // by its plan
}

// open reports whether no call has begun the transfer, and one may.
func (t *promise) open() bool {
	return !t.of.plan.closed(t.action.ID) && !t.gang.hasBegun(t.of, t.action)
}

// closed reports whether an action is done or was given up.
func (r *activePlan) closed(id ctxswitch.ActionID) bool {
	return r.state[id] != "" && r.state[id] != journal.PlanRunning
}

// promises are the transfers of plans on each node, some of which are over.
type promises map[cluster.NodeID][]promise

// add adds the transfers of an assignment.
func (ps promises) add(p *gangState, a *assignment) {
	for _, id := range a.gang.Actions {
		act := &a.plan.actions[id]
		for _, n := range transferNodes(act) {
			ps[n] = append(ps[n], promise{p, a, act, a.plan.planned(id)})
		}
	}
}

// on visits the open promises on a node, and forgets those that are over.
func (ps promises) on(node cluster.NodeID) iter.Seq[promise] {
	return func(yield func(promise) bool) {
		list := slices.DeleteFunc(ps[node], func(t promise) bool { return t.of.plan.closed(t.action.ID) })
		if ps[node] = list; len(list) == 0 {
			delete(ps, node)
		}
		for _, t := range list {
			if t.open() && !yield(t) {
				return
			}
		}
	}
}

// hasBegun reports whether a call for an action was made, or none will be made any more.
func (p *gangState) hasBegun(a *assignment, act *ctxswitch.Action) bool {
	if next, _ := a.hop(act.VM.Rank); !a.begun || next != nil && next.ID != act.ID {
		return false // its gang waits, or it is a later hop
	}
	switch p.rec.Phase {
	case gang.Pausing:
		return false
	case gang.Saving, gang.Restoring, gang.Moving, gang.Shifting:
		return p.rec.Members[act.VM.Rank].Ended || p.member(act.VM.Rank).tries > 0
	default:
		return true
	}
}

// nextTransfer returns when, by its plan, the next transfer of a gang has its slots; zero if it has none to begin.
func (p *gangState) nextTransfer() (first time.Time) {
	if len(p.todo) == 0 {
		return first
	}
	a := p.todo[0]
	for _, id := range a.gang.Actions {
		t := promise{p, a, &a.plan.actions[id], a.plan.planned(id)}
		if (first.IsZero() || t.at.Before(first)) && len(transferNodes(t.action)) > 0 && t.open() {
			first = t.at
		}
	}
	return first
}

// sortByPlan has gangs with transfers to begin change places, so that they are in the order in which their
// plans let these begin.
func (gs *gangs) sortByPlan(ids []cluster.VJobID) {
	if len(ids) < 2 {
		return
	}
	turns, places := map[cluster.VJobID]time.Time{}, []int{}
	var waiting []cluster.VJobID
	for i, id := range ids {
		if p, ok := gs.live[id]; ok {
			if at := p.nextTransfer(); !at.IsZero() {
				turns[id], places, waiting = at, append(places, i), append(waiting, id)
			}
		}
	}
	slices.SortStableFunc(waiting, func(a, b cluster.VJobID) int { return turns[a].Compare(turns[b]) })
	for k, i := range places {
		ids[i] = waiting[k]
	}
}

// TransfersAhead returns for how long the transfer slots of nodes are taken from now on, by the transfers
// under way and by those that plans promise: what a new plan finds before it.
func (e *Executor) TransfersAhead() map[cluster.NodeID][]time.Duration {
	return e.replies.calls.ahead()
}

// ahead returns for how long the transfer slots of nodes are taken from now on, by the transfers
// under way and by those that plans promise: what a new plan finds before it.
func (cs *calls) ahead() map[cluster.NodeID][]time.Duration {
	s := slots{limit: cs.settings.Transfers, until: map[cluster.NodeID][]time.Duration{}}
	for _, id := range slices.Sorted(maps.Keys(cs.ops)) {
		o := cs.ops[id]
		if !isTransfer(o.call.Verb) {
			continue
		}
		nodes := []cluster.NodeID{o.call.Node}
		if o.call.To != "" {
			nodes = append(nodes, o.call.To)
		}
		s.take(nodes, 0, max(cs.expected(o)-cs.now.Sub(o.began), leastLeft))
	}
	var ahead []promise
	for _, n := range slices.Sorted(maps.Keys(cs.gangs.promises)) {
		for t := range cs.gangs.promises.on(n) {
			if transferNodes(t.action)[0] == n { // a migration is promised on two nodes
				ahead = append(ahead, t)
			}
		}
	}
	slices.SortFunc(ahead, func(a, b promise) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.of.plan.id, b.of.plan.id), cmp.Compare(a.action.ID, b.action.ID))
	})
	for _, t := range ahead {
		s.take(transferNodes(t.action), max(t.at.Sub(cs.now), 0), t.action.End-t.action.Start)
	}
	return s.until
}

// leastLeft is what a transfer is expected to take that takes longer than expected.
const leastLeft = time.Second

// expected is how long a transfer is expected to take in all: as its plan says, or else by the costs.
func (cs *calls) expected(o *op) time.Duration {
	p, ok := cs.gangs.of(o.call.VM)
	if !ok {
		return 0
	}
	if len(p.todo) > 0 && p.todo[0].begun {
		if act, _ := p.todo[0].hop(o.call.VM.Rank); act != nil {
			return act.End - act.Start
		}
	}
	return cs.estimate(o.call.Verb, p.job.VMs[o.call.VM.Rank].Reserved.Memory)
}

// slots are how long the slots of nodes are taken.
type slots struct {
	limit int
	until map[cluster.NodeID][]time.Duration
}

// take gives a transfer a slot on each of its nodes, at an instant or as soon as there are some after it.
func (s slots) take(nodes []cluster.NodeID, at, takes time.Duration) {
	for _, n := range nodes {
		if len(s.until[n]) >= max(s.limit, 1) {
			at = max(at, slices.Min(s.until[n]))
		}
	}
	for _, n := range nodes {
		if list := s.until[n]; len(list) >= max(s.limit, 1) {
			list[slices.Index(list, slices.Min(list))] = at + takes
		} else {
			s.until[n] = append(list, at+takes)
		}
	}
}
