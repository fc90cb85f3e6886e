package execute

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// op is a call with a committed intent and without an observed effect.
type op struct {
	call            hypervisor.Call
	own             bool // the protocol of its gang asked for it, and waits for its end
	began           time.Time
	deadline        time.Time
	unanswered      bool // no reply by its deadline, or its scheduler has died: it may still happen
	unansweredSince time.Time
	told            bool // that it takes long
}

// calls are those under way.
type calls struct {
	*batch
	settings *Settings
	gangs    *gangs
	nodes    *nodes
	store    *store
	learned  *Durations

	epoch int64
	next  hypervisor.OpID
	ops   map[hypervisor.OpID]*op
}

// begin gives the calls of a chain their numbers and writes their intents.
func (cs *calls) begin(calls []hypervisor.Call, plan journal.PlanID, own bool, deadline func(hypervisor.Call) time.Duration) {
	chain := Chain{}
	at := cs.now
	for _, call := range calls {
		call.Op = cs.next
		cs.next++
		wait := deadline(call)
		at = at.Add(wait)
		cs.open(&op{call: call, own: own, began: cs.now, deadline: at})
		chain.Calls = append(chain.Calls, call)
		chain.Deadline = append(chain.Deadline, wait)
		call.Machine, call.Rate, call.Cap, call.Weight = nil, 0, 0, 0 // what a look does not need to know the call by
		cs.out.Step.Intents = append(cs.out.Step.Intents, journal.Intent{Call: call, Plan: plan, Epoch: cs.epoch, At: cs.now})
	}
	cs.out.Chains = append(cs.out.Chains, chain)
}

// open registers a call, also with its nodes.
func (cs *calls) open(o *op) {
	cs.ops[o.call.Op] = o
	for _, id := range []cluster.NodeID{o.call.Node, o.call.To} {
		if n, ok := cs.nodes.byID[id]; ok {
			set(&n.ops, o.call.Op, o)
			cs.nodes.outdate(n)
			cs.nodes.updateJobsOn(id, o.call.VM.VJob)
		}
	}
}

// leastDeadline is what even the shortest call is given.
const leastDeadline = 15 * time.Second

// deadline is the time that a call gets for its reply: a multiple of its estimate by the settings, or
// of what was learned if that is more, and never less than leastDeadline.
func (cs *calls) deadline(p *gangState, call hypervisor.Call) time.Duration {
	memory := p.job.VMs[call.VM.Rank].Reserved.Memory
	return cs.settings.deadline(max(cs.estimate(call.Verb, memory), cs.learned.ofCall(&call, memory), p.planned(&call)))
}

// estimate is the duration of a call on a VM with that memory by the settings.
func (cs *calls) estimate(verb hypervisor.Verb, memory cluster.MiB) time.Duration {
	c := &cs.settings.Costs
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

// markUnanswered gives up waiting for the reply to a call. The call may still take effect, so the
// member stays busy until its nodes have been seen well after that.
func (cs *calls) markUnanswered(o *op) {
	if o.unanswered {
		return
	}
	o.unanswered, o.unansweredSince = true, cs.now
	cs.event(journal.Event{
		Kind: journal.EventAction, VJob: o.call.VM.VJob, VM: o.call.VM.String(), Node: o.call.Node,
		Text: fmt.Sprintf("%s of %s on %s: no reply; looking what became of it", o.call.Verb, o.call.VM, o.call.Node),
	})
	cs.lookAt(o.call)
}

// alarmLong raises one alarm for a call that takes long: half of its deadline, at least ten
// minutes and at most an hour.
func (cs *calls) alarmLong(o *op) {
	half := min(max(o.deadline.Sub(o.began)/2, 10*time.Minute), time.Hour)
	if o.told || o.unanswered || cs.now.Sub(o.began) < half {
		return
	}
	o.told = true
	cs.event(journal.Event{
		Kind: journal.EventAlarm, VJob: o.call.VM.VJob, VM: o.call.VM.String(), Node: o.call.Node,
		Text: fmt.Sprintf("%s of %s on %s has taken %s and is given up at %s unless it ends: see whether the node and the image store are well",
			o.call.Verb, o.call.VM, o.call.Node, cs.now.Sub(o.began).Round(time.Second), o.deadline.UTC().Format(time.DateTime)),
	})
}

// settled reports whether an unanswered call has had all the effect that it will have: its nodes have
// answered again for long enough, or are proven dead.
func (cs *calls) settled(o *op) bool {
	for _, id := range []cluster.NodeID{o.call.Node, o.call.To} {
		n, ok := cs.nodes.byID[id]
		if !ok || n.provenEmpty() {
			continue
		}
		if !n.seen {
			return false
		}
		from := o.unansweredSince
		if n.seenSince.After(from) {
			from = n.seenSince
		}
		if cs.now.Sub(from) < cs.settings.Settle {
			return false
		}
	}
	return true
}

// close ends a call: it writes the result, and requests looks at everything that the call could
// have changed.
func (cs *calls) close(o *op, result journal.Result) {
	delete(cs.ops, o.call.Op)
	for _, id := range []cluster.NodeID{o.call.Node, o.call.To} {
		if n, ok := cs.nodes.byID[id]; ok {
			delete(n.ops, o.call.Op)
			cs.nodes.outdate(n)
			if brings(o.call, id) {
				set(&n.arrived, o.call.VM, cs.tick)
			}
		}
	}
	cs.out.Step.Results = append(cs.out.Step.Results, result)
	if p := cs.gangs.live[o.call.VM.VJob]; p != nil {
		if o.own {
			p.callEnded(o.call, cs.tick)
		}
		if writesStore(o.call.Verb) {
			p.begin()
			p.store = cs.tick
		}
		cs.dirty[p.job.ID] = true
	}
	cs.touchWaiters()
	cs.lookAt(o.call)
}

// lookAt looks at everything that a call can have changed.
func (cs *calls) lookAt(call hypervisor.Call) {
	for _, id := range []cluster.NodeID{call.Node, call.To} {
		if n, ok := cs.nodes.byID[id]; ok {
			cs.nodes.look(n)
		}
	}
	if writesStore(call.Verb) {
		cs.store.look()
	}
}

func writesStore(v hypervisor.Verb) bool {
	return v == hypervisor.Save || v == hypervisor.Discard || v == hypervisor.Abort || v == hypervisor.Seal
}

// calling reports whether a call on a VM is under way on a node.
func (cs *calls) calling(at place) bool {
	for _, o := range cs.nodes.byID[at.node].ops {
		if o.call.VM == at.vm {
			return true
		}
	}
	return false
}

// wake passes on when the waits for replies end, and when unanswered calls may be settled.
func (cs *calls) wake(at func(time.Time)) {
	for _, o := range cs.ops {
		if o.unanswered {
			at(o.unansweredSince.Add(cs.settings.Settle))
		} else {
			at(o.deadline)
		}
	}
}
