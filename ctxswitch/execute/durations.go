package execute

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/duration"
	"vjob/hypervisor"
)

// Durations learns how long the actions of plans take.
type Durations struct {
	*batch
	settings *Settings
	learner  *duration.Learner // nil: durations are not learned
}

func newDurations(b *batch, set *Settings, past []duration.Observation) *Durations {
	d := &Durations{batch: b, settings: set}
	if set.Learn {
		d.learner = duration.NewLearner(set.Costs.Priors(), past)
	}
	return d
}

// costs returns the estimates of now.
func (d *Durations) costs() *ctxswitch.Costs {
	c := d.settings.Costs
	if d.learner != nil {
		c.Learned = d.learner.Estimates()
	}
	return &c
}

// Learned returns how long actions take on the nodes; nil: that is not learned.
func (d *Durations) Learned() *duration.Estimates { return d.costs().Learned }

// Estimates returns what Learned does, or else the estimates of the settings.
func (d *Durations) Estimates() *duration.Estimates {
	if learned := d.Learned(); learned != nil {
		return learned
	}
	return duration.NewLearner(d.settings.Costs.Priors(), nil).Estimates()
}

// timing is when an assignment began, and when the calls of its members were under way. A restart
// forgets it: what was under way then is not learned.
type timing struct {
	began time.Time
	asked time.Time // when the gang first asked whether it may make a transfer; zero before
	spans []span    // by rank
}

// span is the time from the first call to the last one of those that carry an action out. It does
// not have what the action waited for before: room, transfer slots, other actions.
type span struct {
	began, ended time.Time
	spoilt       bool // a call failed, or had no reply
}

// start begins the timing of an assignment; nil if it is not learned. The end of a vjob of which
// there are images only is no shutdown.
func (d *Durations) start(p *gangState, kind cluster.ActionKind) *timing {
	if d.learner == nil || p.job.Container || kind == cluster.Stop && p.away() {
		return nil
	}
	return &timing{began: d.now, spans: make([]span, len(p.job.VMs))}
}

// timing returns the timing of the assignment under way; nil without.
func (p *gangState) timing() *timing {
	if len(p.todo) == 0 || !p.todo[0].begun {
		return nil
	}
	return p.todo[0].timing
}

// asks notes that the gang asks whether it may make a transfer.
func (t *timing) asks(now time.Time) {
	if t != nil && t.asked.IsZero() {
		t.asked = now
	}
}

// replied notes when a call was under way.
func (t *timing) replied(call *hypervisor.Call, r *Reply) {
	if t == nil {
		return
	}
	switch call.Verb {
	case hypervisor.Boot, hypervisor.Save, hypervisor.Seal, hypervisor.Restore, hypervisor.Migrate:
	default:
		return
	}
	s := &t.spans[call.VM.Rank]
	if s.began.IsZero() || r.Began.Before(s.began) {
		s.began = r.Began
	}
	if r.Ended.After(s.ended) {
		s.ended = r.Ended
	}
	s.spoilt = s.spoilt || r.Err != nil
}

// mostOverhead bounds what an action may take before its first call and after its last one: pauses
// and looks. More means that a node was silent or that the clock was set.
const mostOverhead = time.Minute

// took returns how long an action that is done now took, without what it waited for: from the begin
// of its gang to its first request for a transfer, from its first call to its last one, and from the last
// call of the gang to now. It is false if that cannot be told.
func (t *timing) took(act *ctxswitch.Action, now time.Time) (time.Duration, bool) {
	if act.Kind == cluster.Stop {
		return now.Sub(t.began), !now.Before(t.began)
	}
	s := t.spans[act.VM.Rank]
	if s.spoilt || s.began.IsZero() || t.asked.IsZero() {
		return 0, false
	}
	before, last := t.asked.Sub(t.began), s.ended
	if act.Kind == cluster.Migrate { // each hop ends by itself
		t.spans[act.VM.Rank] = span{}
		if act.Live {
			before = 0
		}
	} else {
		for _, other := range t.spans {
			if other.ended.After(last) {
				last = other.ended
			}
		}
	}
	overhead := before + now.Sub(last)
	plausible := before >= 0 && !now.Before(last) && overhead <= mostOverhead && !s.ended.Before(s.began)
	return overhead + s.ended.Sub(s.began), plausible
}

// held is by how much a plan may slow a transfer down that is learned nevertheless.
const held = 1.1

// done learns how long an action took that is done now. What took longer than the deadlines of its
// calls allow has seen the clock being set.
func (d *Durations) done(p *gangState, a *assignment, act *ctxswitch.Action) {
	if a.timing == nil {
		return
	}
	took, ok := a.timing.took(act, d.now)
	memory := p.job.VMs[act.VM.Rank].Reserved.Memory
	learned, _ := d.learner.Duration(act.Kind, memory, act.From, act.To)
	estimate := max(learned, d.settings.Costs.Duration(act.Kind, memory, act.From, act.To))
	slowed := act.Rate > 0 && float64(act.End-act.Start) > held*float64(estimate)
	if !ok || slowed || took > mostOverhead+2*d.settings.deadline(estimate) {
		return
	}
	d.out.Step.Learned = append(d.out.Step.Learned, d.learner.Learn(&duration.Taken{
		Action: act.Kind, From: act.From, To: act.To, Memory: memory, At: d.now, Took: took,
	})...)
}

// actionOf has, by verbs, the action that lasts as long as a call, or longer.
var actionOf = map[hypervisor.Verb]cluster.ActionKind{
	hypervisor.Boot: cluster.Boot, hypervisor.Shutdown: cluster.Stop, hypervisor.Destroy: cluster.Stop,
	hypervisor.Save: cluster.Suspend, hypervisor.Seal: cluster.Suspend,
	hypervisor.Restore: cluster.Resume, hypervisor.Migrate: cluster.Migrate,
}

// ofCall returns the duration that was learned for the action of a call on a VM with that memory; 0
// if none is. Where the image of a restore lies does not matter: the longer duration counts.
func (d *Durations) ofCall(call *hypervisor.Call, memory cluster.MiB) time.Duration {
	action, ok := actionOf[call.Verb]
	if d.learner == nil || !ok {
		return 0
	}
	takes := func(from, to cluster.NodeID) time.Duration {
		takes, _ := d.learner.Duration(action, memory, from, to)
		return takes
	}
	switch action {
	case cluster.Boot:
		return takes("", call.Node)
	case cluster.Resume:
		return max(takes(call.Node, call.Node), takes("?", call.Node))
	default:
		return takes(call.Node, call.To)
	}
}
