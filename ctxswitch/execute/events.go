package execute

import (
	"errors"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// SetNode adds a node or changes its declared state. Declaring a node down is
// the proof that whatever ran there is gone.
func (e *Executor) SetNode(now time.Time, n cluster.Node) {
	e.now = now
	known := e.nodes.set(n)
	e.changes++
	if n.State == cluster.Down {
		e.nodes.empty(known)
		e.settleOn(n.ID)
	}
	e.nodes.look(known)
	e.accounts.updateCrowding(known)
	e.energy.update(known)
	e.nodes.updateSilent(known)
}

// Looked takes in a look at a node.
func (e *Executor) Looked(now time.Time, id cluster.NodeID, view hypervisor.View, err error) {
	e.now = now
	n, ok := e.nodes.byID[id]
	if !ok {
		return
	}
	if e.nodes.firstLook(n) {
		e.changes++
	}
	n.looking, n.lookEnded = false, now
	if n.State == cluster.Down {
		return
	}
	was := n.seen
	if err != nil {
		n.problem = err.Error()
	} else {
		e.nodes.update(n, view)
		e.accounts.observe(view.Copies)
		e.unknown.isolate(n)
	}
	n.seen = err == nil
	e.nodes.updateSilent(n)
	e.energy.update(n)
	e.accounts.updateCrowding(n)
	if was != n.seen {
		n.seenSince = now
		e.changes++
		e.nodes.tell(n)
		e.nodes.touchJobsOn(id)
	}
	if n.lookAgain && n.seen {
		e.nodes.look(n)
	}
	e.settleOn(id)
}

// Hint says that something changed on a node.
func (e *Executor) Hint(now time.Time, id cluster.NodeID) {
	e.now = now
	if n, ok := e.nodes.byID[id]; ok {
		e.nodes.look(n)
	}
}

// settleOn closes the unanswered calls that a look at a node allows to close.
func (e *Executor) settleOn(id cluster.NodeID) {
	ops := e.nodes.byID[id].ops
	for _, number := range slices.Sorted(maps.Keys(ops)) {
		e.settle(ops[number])
	}
}

// LookedStore takes in a look at the image store.
func (e *Executor) LookedStore(now time.Time, shown hypervisor.Store, err error) {
	e.now = now
	e.store.update(shown, err)
	if err == nil {
		e.Images.forgetDeleted()
	}
	e.Images.check()
	for id := range e.gangs.active {
		e.dirty[id] = true
	}
	if e.store.lookAgain {
		e.store.look()
	}
}

// Replied takes in the reply to a call. The reply does not prove the effect: it only triggers a
// look.
func (e *Executor) Replied(now time.Time, r Reply) {
	e.now = now
	o, ok := e.calls.ops[r.Op]
	if !ok {
		return
	}
	if errors.Is(r.Err, hypervisor.ErrTimeout) {
		e.calls.markUnanswered(o)
		return
	}
	p := e.gangs.live[o.call.VM.VJob]
	switch {
	case p == nil:
		e.unknown.pauseFailed(&o.call, r.Err)
	case o.call.Verb == hypervisor.Tune:
		e.tuner.refused(p, &o.call, r.Err)
	case o.own:
		p.learn(o.call, r)
	}
	e.close(o, journal.Result{Op: r.Op, Began: r.Began, Ended: r.Ended, Error: text(r.Err)})
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// settle closes an unanswered call once its nodes have answered again for long enough, or are proven
// dead.
func (e *Executor) settle(o *op) {
	if !o.unanswered || !e.calls.settled(o) {
		return
	}
	switch p := e.gangs.live[o.call.VM.VJob]; {
	case p == nil:
		e.unknown.pauseFailed(&o.call, hypervisor.ErrTimeout)
	case o.own:
		p.learn(o.call, Reply{Err: hypervisor.ErrTimeout, Began: o.began, Ended: e.now})
	}
	e.close(o, journal.Result{Op: o.call.Op, Began: o.began, Ended: e.now, Error: hypervisor.ErrTimeout.Error()})
}

// close ends a call.
func (e *Executor) close(o *op, result journal.Result) {
	if p := e.gangs.live[o.call.VM.VJob]; p != nil && o.call.Verb == hypervisor.Tune {
		e.tuner.ended(p, o.call.VM.Rank, e.tick)
	}
	e.calls.close(o, result)
}
