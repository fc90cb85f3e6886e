package execute

import (
	"cmp"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// engine advances gangs: it asks package gang what to do next, commits the records and makes the calls.
type engine struct {
	*batch
	settings *Settings
	hooks    *Hooks
	gangs    *gangs
	nodes    *nodes
	calls    *calls
	capacity *capacity
	inputs   *inputs
	accounts *accounts
	learned  *Durations
}

// advance takes a gang as far as it can go without a further reply or look. It reports whether the
// gang can go on later: false if it has ended, or is left alone.
func (en *engine) advance(p *gangState) (live bool) {
	for range 4 * (len(p.rec.Members) + 8) { // every turn changes a phase or a member
		en.advancePlan(p)
		en.limitRoomWait(p)
		if p.broken != "" {
			return false
		}
		turn := en.inputs.step(p)
		p.wait = turn.Wait
		for _, alarm := range turn.Alarms {
			en.alarm(p, journal.AlarmGang, alarm)
		}
		if turn.Changed {
			en.commit(p, turn.Record)
		}
		if p.broken != "" {
			return false
		}
		if turn.Hold != "" {
			en.hold(p, true, cluster.Because(turn.Hold))
		}
		for _, chain := range turn.Chains {
			en.issue(p, chain)
		}
		if _, live := en.gangs.live[p.job.ID]; !live {
			return false
		}
		if !turn.Changed {
			en.updateActive(p)
			return true
		}
	}
	en.leaveAlone(p, fmt.Sprintf("its gang does not come to rest in phase %s", p.rec.Phase))
	return false
}

// updateActive notes whether a gang that was advanced can go on without an event; when is found out once that is asked for.
func (en *engine) updateActive(p *gangState) {
	if p.atRest(en.now) {
		delete(en.gangs.active, p.job.ID)
		return
	}
	en.gangs.active[p.job.ID] = p
	p.begin()
	p.wake = time.Time{}
}

// leaveAlone gives up a vjob for which an invariant does not hold: that is a defect, or a
// damaged database. Nothing is done with it until the next start; the others go on.
func (en *engine) leaveAlone(p *gangState, invariant string) {
	p.begin()
	p.broken = invariant
	p.wait = "left alone: " + invariant
	p.drop(journal.PlanDropped, p.wait)
	en.alarm(p, journal.AlarmDefect, fmt.Sprintf("vjob %s is left alone: %s; its VMs and images stay as they are: report this, with what `vjob show %s` prints",
		p.job.ID, invariant, p.job.ID))
	en.changes++
	delete(en.gangs.active, p.job.ID)
}

// advancePlan begins the next gang of the vjob's plans when it is ready, and
// sends members with several hops on.
func (en *engine) advancePlan(p *gangState) {
	if len(p.todo) == 0 {
		return
	}
	a := p.todo[0]
	if why := cmp.Or(a.blocked(), en.blockedByContainer(p, a)); why != "" {
		if !a.begun {
			p.drop(journal.PlanDropped, why)
			return
		}
		p.phase.turnBack(why)
	}
	switch {
	case !a.begun:
		if p.rec.Phase.Stable() && a.ready() && en.mayPause(p, a) {
			en.beginNext(p, a)
		}
	case p.rec.Phase == gang.Moving || p.rec.Phase == gang.Shifting:
		en.nextHop(p, a)
	}
}

// beginNext begins an assignment that is ready.
func (en *engine) beginNext(p *gangState, a *assignment) {
	if a.gang.Kind == cluster.Unpause && !en.mayUnpause(p) {
		return
	}
	timing := en.learned.start(p, a.gang.Kind)
	rec, err := p.rec.Begin(a.aim(len(p.rec.Members)), en.now)
	if err != nil {
		p.drop(journal.PlanDropped, err.Error())
		return
	}
	a.begun, a.timing = true, timing
	for _, id := range a.gang.Actions {
		a.plan.mark(id, journal.PlanRunning, "")
	}
	en.commit(p, rec)
}

// nextHop notes the hops that are done, whatever the replies to their calls were, and
// sends the members on that have more.
func (en *engine) nextHop(p *gangState, a *assignment) {
	for rank, m := range p.rec.Members {
		if m.Next != "" {
			continue
		}
		act, may := a.hop(rank)
		for act != nil && act.To == m.Node {
			p.memberOf(rank).err = nil
			en.done(p, a, act)
			act, may = a.hop(rank)
		}
		if act != nil && may && !p.stays(rank) {
			p.memberOf(rank).tries = 0 // each hop has its own
			en.commit(p, p.rec.Hop(rank, act.To))
		}
	}
}

// done marks an action as done, and learns how long it took.
func (en *engine) done(p *gangState, a *assignment, act *ctxswitch.Action) {
	if a.plan.state[act.ID] != journal.PlanDone {
		en.learned.done(p, a, act)
		a.plan.mark(act.ID, journal.PlanDone, "")
	}
}

// limitRoomWait turns a gang back that has waited longer than [Settings.RoomTimeout] for room.
func (en *engine) limitRoomWait(p *gangState) {
	if p.phase.deniedSince.IsZero() {
		return
	}
	if en.now.Sub(p.phase.deniedSince) >= en.settings.RoomTimeout {
		p.phase.turnBack(fmt.Sprintf("no room after %s of waiting", en.settings.RoomTimeout))
	}
	p.phase.deniedSince = p.keepDenied()
}

// commit makes a new record the present one and notifies all that depends on it.
func (en *engine) commit(p *gangState, rec gang.Record) {
	en.gangs.begin(p)
	before := p.rec
	p.rec = &rec
	en.changed(p)
	p.recordRefusals(before, &rec, en.now)
	en.nodes.updateJobsOnAll(p)
	en.nodes.renewAll(p.job)
	if len(rec.Kept) > 0 {
		en.gangs.withImages[p.job.ID] = true
	}
	en.out.Step.Gangs = append(en.out.Step.Gangs, *rec.Clone())
	if before.Phase == rec.Phase && before.Then == rec.Then {
		return
	}
	en.accounts.phaseChanged(p)
	en.changes++
	if skew := p.phase.skew(); skew > 0 && (before.Phase == gang.Pausing || before.Phase == gang.Resuming) {
		en.tellSkew(p, before.Phase, skew)
	}
	p.phaseChanged()
	en.touchContainer(p)
	en.updateJobState(p)
	failed := p.failures.count
	if rec.Phase.Stable() && p.broken == "" {
		en.finish(p)
	}
	if before.Phase != rec.Phase && !p.job.State.Ready() && p.broken == "" && p.failures.count == failed {
		en.planned++
	}
	en.touchWaiters()
}

// issue begins a chain of calls for a gang.
func (en *engine) issue(p *gangState, calls []hypervisor.Call) {
	for i := range calls {
		calls[i].Rate = p.rate(&calls[i])
		p.addTuning(&calls[i])
	}
	en.calls.begin(calls, p.plan(), true, func(call hypervisor.Call) time.Duration {
		p.callBegan(call, en.now)
		return en.calls.deadline(p, call)
	})
}

// mayUnpause reports whether a gang that is paused in memory may continue now: its nodes have the
// CPU that its members need. When they lack it for too long, the gang gives up its aim and stays
// paused, and the policy decides.
func (en *engine) mayUnpause(p *gangState) bool {
	if en.capacity.mayRun(p) {
		return true
	}
	en.denied[p.job.ID] = true
	p.begin()
	if p.phase.deniedSince.IsZero() {
		p.phase.deniedSince = en.now
	}
	if en.now.Sub(p.phase.deniedSince) >= en.settings.RoomTimeout {
		p.phase.deniedSince = time.Time{}
		p.failures.add(en.now, fmt.Sprintf("no CPU or power to go on after %s of waiting", en.settings.RoomTimeout))
		p.drop(journal.PlanFailed, p.failures.why)
	}
	return false
}

// blockedByContainer says why a vjob cannot begin inside its container, "" if it can.
func (en *engine) blockedByContainer(p *gangState, a *assignment) string {
	if p.job.Inner == 0 {
		return ""
	}
	switch a.gang.Kind {
	case cluster.Suspend, cluster.Pause, cluster.Stop:
		return "" // it makes room
	default:
	}
	c, live := en.gangs.live[p.job.Inner]
	switch {
	case !live:
		return fmt.Sprintf("its container %s has ended", p.job.Inner)
	case c.rec.Phase != gang.Active:
		return fmt.Sprintf("its container %s %s", c.job.ID, c.job.State.Clause())
	default:
		return ""
	}
}

// touchContainer wakes the gangs that depend on the new phase of a gang: the vjobs inside a
// container, or the container that waits for them to leave.
func (en *engine) touchContainer(p *gangState) {
	if p.job.Inner != 0 {
		en.dirty[p.job.Inner] = true
	}
	if !p.job.Container {
		return
	}
	for id, q := range en.gangs.live {
		if q.job.Inner == p.job.ID {
			en.dirty[id] = true
		}
	}
}

// never is later than all that is waited for.
var never = time.Unix(1<<40, 0)

// wake passes on when gangs that wait, or back off, go on without an event.
func (en *engine) wake(at func(time.Time)) {
	for id := range en.denied {
		if p, ok := en.gangs.live[id]; ok {
			at(p.notBefore)
		}
	}
	for _, p := range en.gangs.active {
		if !p.wake.After(en.now) {
			en.setWake(p)
		}
		at(p.wake)
	}
}

// setWake notes the next instant at which a gang that backs off, or has waited for long enough, goes on without an event. It
// depends on nothing that changes while the gang is not advanced, but the time.
func (en *engine) setWake(p *gangState) {
	p.wake = never
	sooner := func(t time.Time) {
		if t.After(en.now) && t.Before(p.wake) {
			p.wake = t
		}
	}
	for i := range p.members {
		t := &p.members[i]
		sooner(t.nextCall())
		sooner(t.absent.Add(en.settings.Limits.DepartureGrace))
		sooner(t.absent.Add(en.settings.Limits.StoreLag))
	}
	sooner(p.phase.deniedSince.Add(en.settings.RoomTimeout))
	if p.rec.Phase == gang.Pausing {
		sooner(p.rec.Since.Add(en.settings.Limits.MaxSkew + time.Millisecond))
	}
}
