package execute

import (
	"time"

	"vjob/cluster"
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
		e.replies.settleOn(n.ID)
	}
	e.nodes.look(known)
	e.meters.stated(known)
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
	expected := n.answered
	n.looking, n.lookEnded = false, now
	e.nodes.outdate(n)
	if n.State == cluster.Down {
		n.answered = false
		return
	}
	was := n.seen
	if err != nil {
		n.problem = err.Error()
	} else {
		e.nodes.update(n, view)
		e.meters.accounts.observe(&view)
		for i := range view.Copies {
			e.nodes.renew(view.Copies[i].VM) // it may be on two nodes
		}
		e.unknown.isolate(n)
	}
	n.seen, n.answered = err == nil, false
	e.nodes.awaited = e.nodes.awaited || !n.seen
	e.nodes.updateSilent(n)
	e.meters.looked(n)
	if was != n.seen {
		n.seenSince = now
		e.changes++
		e.nodes.touchJobsOn(id)
	}
	if (was || expected) != n.seen {
		e.nodes.tell(n)
	}
	if n.lookAgain && n.seen {
		e.nodes.look(n)
	}
	e.replies.settleOn(id)
}

// Hint says that something changed on a node.
func (e *Executor) Hint(now time.Time, id cluster.NodeID) {
	e.now = now
	e.nodes.hint(id)
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
	e.replies.take(r)
}
