package execute

import (
	"errors"
	"time"

	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// Replied takes in the reply to a call. The reply does not prove the effect: it only triggers a
// look.
func (e *Executor) Replied(now time.Time, r Reply) {
	e.now = now
	o, ok := e.calls.ops[r.Op]
	if !ok {
		return
	}
	if errors.Is(r.Err, hypervisor.ErrTimeout) {
		e.calls.lose(o)
		return
	}
	p := e.gangs.live[o.call.VM.VJob]
	switch {
	case p == nil:
		e.unknown.unpaused(&o.call, r.Err)
	case o.call.Verb == hypervisor.Cap:
		e.caps.refused(p, &o.call, r.Err)
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

// settle closes a lost call once its nodes have answered again for long enough, or are proven
// dead.
func (e *Executor) settle(o *op) {
	if !o.lost || !e.calls.settled(o) {
		return
	}
	switch p := e.gangs.live[o.call.VM.VJob]; {
	case p == nil:
		e.unknown.unpaused(&o.call, hypervisor.ErrTimeout)
	case o.own:
		p.learn(o.call, Reply{Err: hypervisor.ErrTimeout, Began: o.began, Ended: e.now})
	}
	e.close(o, journal.Result{Op: o.call.Op, Began: o.began, Ended: e.now, Error: hypervisor.ErrTimeout.Error()})
}

// close ends a call.
func (e *Executor) close(o *op, result journal.Result) {
	if p := e.gangs.live[o.call.VM.VJob]; p != nil && o.call.Verb == hypervisor.Cap {
		e.caps.ended(p, o.call.VM.Rank, e.tick)
	}
	e.calls.close(o, result)
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
