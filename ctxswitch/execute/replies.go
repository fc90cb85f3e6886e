package execute

import (
	"errors"
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// replies ends calls: by their replies, or, without one, once looks show that they have no effect any more.
type replies struct {
	*batch
	gangs   *gangs
	nodes   *nodes
	calls   *calls
	tuner   *tuner
	unknown *unknownCopies
}

// restore opens the calls that were under way when the journal was written, or may have been.
func (rs *replies) restore(loaded *journal.Loaded) {
	for _, intent := range loaded.Open {
		deadline, underWay := loaded.Deadlines[intent.Call.Op]
		p := rs.gangs.live[intent.Call.VM.VJob]
		own := p != nil && intent.Call.VM.Rank < len(p.job.VMs) && intent.Call.Verb != hypervisor.Tune
		rs.calls.open(&op{call: intent.Call, began: intent.At, deadline: deadline, unanswered: !underWay, unansweredSince: rs.now, own: own})
		if own {
			p.callBegan(intent.Call, rs.now)
		}
	}
}

// overdue marks the calls without a reply in time, and closes those that can have no effect any more.
func (rs *replies) overdue() {
	for _, id := range slices.Sorted(maps.Keys(rs.calls.ops)) {
		o := rs.calls.ops[id]
		if !rs.now.Before(o.deadline) {
			rs.calls.markUnanswered(o)
		}
		rs.calls.alarmLong(o)
		rs.settle(o)
	}
}

// settleOn closes the unanswered calls that a look at a node allows to close.
func (rs *replies) settleOn(id cluster.NodeID) {
	ops := rs.nodes.byID[id].ops
	for _, number := range slices.Sorted(maps.Keys(ops)) {
		rs.settle(ops[number])
	}
}

// take takes in the reply to a call.
func (rs *replies) take(r Reply) {
	o, ok := rs.calls.ops[r.Op]
	if !ok {
		return
	}
	if errors.Is(r.Err, hypervisor.ErrTimeout) {
		rs.calls.markUnanswered(o)
		return
	}
	p := rs.gangs.live[o.call.VM.VJob]
	switch {
	case p == nil:
		rs.unknown.pauseFailed(&o.call, r.Err)
	case o.call.Verb == hypervisor.Tune:
		rs.tuner.refused(p, &o.call, r.Err)
	case o.own:
		p.learn(o.call, r)
	}
	rs.close(o, journal.Result{Op: r.Op, Began: r.Began, Ended: r.Ended, Error: text(r.Err)})
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// settle closes an unanswered call once its nodes have answered again for long enough, or are proven
// dead.
func (rs *replies) settle(o *op) {
	if !o.unanswered || !rs.calls.settled(o) {
		return
	}
	switch p := rs.gangs.live[o.call.VM.VJob]; {
	case p == nil:
		rs.unknown.pauseFailed(&o.call, hypervisor.ErrTimeout)
	case o.own:
		p.learn(o.call, Reply{Err: hypervisor.ErrTimeout, Began: o.began, Ended: rs.now})
	}
	rs.close(o, journal.Result{Op: o.call.Op, Began: o.began, Ended: rs.now, Error: hypervisor.ErrTimeout.Error()})
}

// close ends a call.
func (rs *replies) close(o *op, result journal.Result) {
	if p := rs.gangs.live[o.call.VM.VJob]; p != nil && o.call.Verb == hypervisor.Tune {
		rs.tuner.ended(p, o.call.VM.Rank, rs.tick)
	}
	rs.calls.close(o, result)
}
