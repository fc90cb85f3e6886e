package execute

import (
	"errors"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// op is a call with a committed intent and without an observed effect.
type op struct {
	call     hypervisor.Call
	own      bool // the protocol of its gang asked for it, and waits for its end
	began    time.Time
	deadline time.Time
	lost     bool // no reply by its deadline, or its scheduler has died: it may still happen
	lostAt   time.Time
	told     bool // that it takes long
}

// issue begins a chain of calls for a gang.
func (e *Executor) issue(p *gangState, calls []hypervisor.Call) {
	for i := range calls {
		calls[i].Rate = p.rate(&calls[i])
		p.addCap(&calls[i])
	}
	e.begin(calls, p.plan(), true, func(call hypervisor.Call) time.Duration {
		p.hold(call, e.now)
		return e.deadline(p, call)
	})
}

// begin gives the calls of a chain their numbers and writes their intents.
func (e *Executor) begin(calls []hypervisor.Call, plan journal.PlanID, own bool, deadline func(hypervisor.Call) time.Duration) {
	chain := Chain{}
	at := e.now
	for _, call := range calls {
		call.Op = e.nextOp
		e.nextOp++
		wait := deadline(call)
		at = at.Add(wait)
		e.open(&op{call: call, own: own, began: e.now, deadline: at})
		chain.Calls = append(chain.Calls, call)
		chain.Deadline = append(chain.Deadline, wait)
		call.Machine, call.Rate, call.Cap = nil, 0, 0 // what a look does not need to know the call by
		e.out.Step.Intents = append(e.out.Step.Intents, journal.Intent{Call: call, Plan: plan, Epoch: e.epoch, At: e.now})
	}
	e.out.Chains = append(e.out.Chains, chain)
}

// open registers a call, also with its nodes.
func (e *Executor) open(o *op) {
	e.ops[o.call.Op] = o
	for _, id := range []cluster.NodeID{o.call.Node, o.call.To} {
		if n, ok := e.nodes[id]; ok {
			n.ops[o.call.Op] = o
			e.updateJobsOn(id, o.call.VM.VJob)
		}
	}
}

// leastDeadline is what even the shortest call is given.
const leastDeadline = 15 * time.Second

// deadline is the time that a call gets for its reply: a multiple of its estimate, and never less
// than leastDeadline.
func (e *Executor) deadline(p *gangState, call hypervisor.Call) time.Duration {
	estimate := max(e.estimate(call.Verb, p.job.VMs[call.VM.Rank].Reserved.Memory), p.planned(&call))
	return leastDeadline + time.Duration(float64(estimate)*e.settings.Slack)
}

// estimate is the expected duration of a call on a VM with that memory.
func (e *Executor) estimate(verb hypervisor.Verb, memory cluster.MiB) time.Duration {
	c := e.settings.Costs
	per := func(d time.Duration) time.Duration {
		return time.Duration(float64(d) * float64(memory) / float64(cluster.GiB))
	}
	switch verb {
	case hypervisor.Boot:
		return c.Boot
	case hypervisor.Shutdown, hypervisor.Destroy:
		return c.Stop
	case hypervisor.Save, hypervisor.Seal:
		return per(c.SuspendPer)
	case hypervisor.Restore:
		return time.Duration(float64(per(c.ResumePer)) * max(c.RemoteFactor, 1))
	case hypervisor.Migrate:
		return per(c.MigratePer)
	default:
		return 0
	}
}

// Replied takes in the reply to a call. The reply does not prove the effect: it only triggers a
// look.
func (e *Executor) Replied(now time.Time, r Reply) {
	e.now = now
	o, ok := e.ops[r.Op]
	if !ok {
		return
	}
	if errors.Is(r.Err, hypervisor.ErrTimeout) {
		e.lose(o)
		return
	}
	p := e.gangs[o.call.VM.VJob]
	switch {
	case p == nil:
		e.unpaused(&o.call, r.Err)
	case o.call.Verb == hypervisor.Cap:
		e.refused(p, &o.call, r.Err)
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

// lose gives up waiting for a reply. The call may still happen, so the member
// stays busy until its nodes have been seen well after that.
func (e *Executor) lose(o *op) {
	if o.lost {
		return
	}
	o.lost, o.lostAt = true, e.now
	e.event(journal.Event{
		Kind: journal.EventAction, VJob: o.call.VM.VJob, VM: o.call.VM.String(), Node: o.call.Node,
		Text: fmt.Sprintf("%s of %s on %s: no reply; looking what became of it", o.call.Verb, o.call.VM, o.call.Node),
	})
	e.lookAt(o.call)
}

// tellLong raises one alarm for a call that takes long: half of its deadline, at least ten
// minutes and at most an hour.
func (e *Executor) tellLong(o *op) {
	half := min(max(o.deadline.Sub(o.began)/2, 10*time.Minute), time.Hour)
	if o.told || o.lost || e.now.Sub(o.began) < half {
		return
	}
	o.told = true
	e.event(journal.Event{
		Kind: journal.EventAlarm, VJob: o.call.VM.VJob, VM: o.call.VM.String(), Node: o.call.Node,
		Text: fmt.Sprintf("%s of %s on %s has taken %s and is given up at %s unless it ends: see whether the node and the image store are well",
			o.call.Verb, o.call.VM, o.call.Node, e.now.Sub(o.began).Round(time.Second), o.deadline.UTC().Format(time.DateTime)),
	})
}

// settle closes a lost call once its nodes have answered again for long enough, or are proven
// dead.
func (e *Executor) settle(o *op) {
	if !o.lost {
		return
	}
	for _, id := range []cluster.NodeID{o.call.Node, o.call.To} {
		n, ok := e.nodes[id]
		if !ok || n.provenEmpty() {
			continue
		}
		if !n.seen {
			return
		}
		from := o.lostAt
		if n.since.After(from) {
			from = n.since
		}
		if e.now.Sub(from) < e.settings.Settle {
			return
		}
	}
	switch p := e.gangs[o.call.VM.VJob]; {
	case p == nil:
		e.unpaused(&o.call, hypervisor.ErrTimeout)
	case o.own:
		p.learn(o.call, Reply{Err: hypervisor.ErrTimeout, Began: o.began, Ended: e.now})
	}
	e.close(o, journal.Result{Op: o.call.Op, Began: o.began, Ended: e.now, Error: hypervisor.ErrTimeout.Error()})
}

// close ends a call: it writes the result, and requests looks at everything that the call could
// have changed.
func (e *Executor) close(o *op, result journal.Result) {
	delete(e.ops, o.call.Op)
	for _, id := range []cluster.NodeID{o.call.Node, o.call.To} {
		if n, ok := e.nodes[id]; ok {
			delete(n.ops, o.call.Op)
			if brings(o.call, id) {
				n.unseen[o.call.VM] = e.tick
			}
		}
	}
	e.out.Step.Results = append(e.out.Step.Results, result)
	if p := e.gangs[o.call.VM.VJob]; p != nil {
		switch {
		case o.call.Verb == hypervisor.Cap:
			e.uncap(p, o.call.VM.Rank, e.tick)
		case o.own:
			p.release(o.call, e.tick)
		}
		if writesStore(o.call.Verb) {
			p.store = e.tick
		}
		e.dirty[p.job.ID] = true
	}
	e.touchWaiters()
	e.lookAt(o.call)
}

// lookAt looks at everything that a call can have changed.
func (e *Executor) lookAt(call hypervisor.Call) {
	for _, id := range []cluster.NodeID{call.Node, call.To} {
		if n, ok := e.nodes[id]; ok {
			e.look(n)
		}
	}
	if writesStore(call.Verb) {
		e.lookStore()
	}
}

func writesStore(v hypervisor.Verb) bool {
	return v == hypervisor.Save || v == hypervisor.Discard || v == hypervisor.Abort || v == hypervisor.Seal
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
	p.time(call.Verb, r.Began, r.Ended)
	if r.Err != nil {
		return
	}
	switch call.Verb {
	case hypervisor.Revoke:
		t.revoked = max(t.revoked, call.Attempt)
	case hypervisor.Seal:
		if p.sealed == nil {
			p.sealed = map[string]*gang.Image{}
		}
		p.sealed[call.Image.String()] = &gang.Image{
			ID: call.Image, Node: call.Node, Bytes: r.Receipt.Bytes, Checksum: r.Receipt.Checksum,
			Incarnation: r.Receipt.Incarnation,
		}
	case hypervisor.Discard:
		if p.discarded == nil {
			p.discarded = map[hypervisor.ImageID]bool{}
		}
		p.discarded[call.Image] = true
	default:
	}
}

// time widens the skew of the phase by a pause or unpause that happened, if it
// did, between two instants: the measured skew is never less than the true one.
func (p *gangState) time(verb hypervisor.Verb, began, ended time.Time) {
	if verb != hypervisor.Pause && verb != hypervisor.Unpause {
		return
	}
	if p.skewFrom.IsZero() || began.Before(p.skewFrom) {
		p.skewFrom = began
	}
	if ended.After(p.skewTo) {
		p.skewTo = ended
	}
}
