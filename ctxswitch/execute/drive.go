package execute

import (
	"cmp"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
)

// drive takes a gang as far as it can go without a further reply or look.
func (e *Executor) drive(p *gangState) {
	for range 4 * (len(p.rec.Members) + 8) { // every turn changes a phase or a member
		e.advancePlan(p)
		e.giveWay(p)
		if p.broken != "" {
			return
		}
		turn := e.step(p)
		p.wait = turn.Wait
		for _, alarm := range turn.Alarms {
			e.alarm(p, alarm)
		}
		if turn.Changed {
			e.commit(p, turn.Record)
		}
		if p.broken != "" {
			return
		}
		if turn.Hold != "" {
			e.hold(p, true, cluster.Because(turn.Hold))
		}
		for _, chain := range turn.Chains {
			e.issue(p, chain)
		}
		if _, live := e.gangs[p.job.ID]; !live {
			return
		}
		if !turn.Changed {
			e.recap(p)
			e.active[p.job.ID] = p
			if p.rests(e.now) {
				delete(e.active, p.job.ID)
			}
			return
		}
	}
	e.leaveAlone(p, fmt.Sprintf("its gang does not come to rest in phase %s", p.rec.Phase))
}

// leaveAlone gives up a vjob for which an invariant does not hold: that is a defect, or a
// damaged database. Nothing is done with it until the next start; the others go on.
func (e *Executor) leaveAlone(p *gangState, invariant string) {
	p.broken = invariant
	p.wait = "left alone: " + invariant
	e.drop(p, journal.PlanDropped, p.wait)
	e.alarm(p, fmt.Sprintf("vjob %s is left alone: %s; its VMs and images stay as they are: report this, with what `vjob show %s` prints",
		p.job.ID, invariant, p.job.ID))
	e.changes++
	delete(e.active, p.job.ID)
}

// advancePlan begins the next gang of the vjob's plans when it is ready, and
// sends members with several hops on.
func (e *Executor) advancePlan(p *gangState) {
	if len(p.todo) == 0 {
		return
	}
	a := p.todo[0]
	if why := cmp.Or(a.blocked(), e.outside(p, a)); why != "" {
		if !a.begun {
			e.drop(p, journal.PlanDropped, why)
			return
		}
		p.turnBack(why)
	}
	switch {
	case !a.begun:
		if p.rec.Phase.Stable() && a.ready() {
			e.beginNext(p, a)
		}
	case p.rec.Phase == gang.Moving || p.rec.Phase == gang.Shifting:
		e.nextHop(p, a)
	}
}

// turnBack has a gang give up what it is doing. The first reason counts.
func (p *gangState) turnBack(why string) { p.retreat = cmp.Or(p.retreat, why) }

// beginNext begins an assignment that is ready.
func (e *Executor) beginNext(p *gangState, a *assignment) {
	if a.gang.Kind == cluster.Unpause && !e.mayUnpause(p) {
		return
	}
	rec, err := p.rec.Begin(a.aim(len(p.rec.Members)), e.now)
	if err != nil {
		e.drop(p, journal.PlanDropped, err.Error())
		return
	}
	a.begun = true
	for _, id := range a.gang.Actions {
		e.mark(a.run, id, journal.PlanRunning, "")
	}
	e.commit(p, rec)
}

// nextHop notes the hops that are done, whatever the replies to their calls were, and
// sends the members on that have more.
func (e *Executor) nextHop(p *gangState, a *assignment) {
	for rank, m := range p.rec.Members {
		if m.Next != "" {
			continue
		}
		act, may := a.hop(rank)
		for act != nil && act.To == m.Node {
			p.memberOf(rank).err = nil
			e.mark(a.run, act.ID, journal.PlanDone, "")
			act, may = a.hop(rank)
		}
		if act != nil && may && !p.stays(rank) {
			p.memberOf(rank).tries = 0 // each hop has its own
			e.commit(p, p.rec.Hop(rank, act.To))
		}
	}
}

// giveWay turns a gang back that has waited too long for room.
func (e *Executor) giveWay(p *gangState) {
	if !p.denied.IsZero() && e.now.Sub(p.denied) >= e.settings.Patience {
		p.turnBack(fmt.Sprintf("no room after %s of waiting", e.settings.Patience))
	}
	p.denied = e.keepDenied(p)
}

// keepDenied keeps the time of the first refusal as long as nothing is under way.
func (e *Executor) keepDenied(p *gangState) time.Time {
	for i := range p.members {
		if len(p.members[i].held) > 0 {
			return time.Time{}
		}
	}
	return p.denied
}

// commit makes a new record the present one and notifies all that depends on it.
func (e *Executor) commit(p *gangState, rec gang.Record) {
	before := p.rec
	p.rec = rec
	p.recordRefusals(&before, &rec, e.now)
	e.updateJobsOnAll(p)
	if len(rec.Kept) > 0 {
		e.withImages[p.job.ID] = true
	}
	e.out.Step.Gangs = append(e.out.Step.Gangs, *rec.Clone())
	if before.Phase == rec.Phase && before.Then == rec.Then {
		return
	}
	e.account(p, true)
	e.awaitEnd(p)
	e.changes++
	if skew := p.skew(); skew > 0 && (before.Phase == gang.Pausing || before.Phase == gang.Resuming) {
		e.tellSkew(p, before.Phase, skew)
	}
	p.phaseChanged()
	e.touchContainer(p)
	e.show(p)
	if rec.Phase.Stable() && p.broken == "" {
		e.finish(p)
	}
	e.touchWaiters()
}

func (e *Executor) tellSkew(p *gangState, phase gang.Phase, skew time.Duration) {
	kind := "pause"
	if phase == gang.Resuming {
		kind = "resume"
	}
	if plan := p.plan(); plan != 0 {
		e.out.Step.Skews = append(e.out.Step.Skews, journal.SkewChange{Plan: plan, VJob: p.job.ID, Kind: kind, Skew: skew})
	}
}

// show moves the vjob's own state after the phase of its gang.
func (e *Executor) show(p *gangState) {
	next, how := p.rec.State(), cluster.Open
	if p.rec.Phase == gang.Absent {
		how = p.rec.Then.Outcome()
	}
	switch how {
	case cluster.Open:
	case cluster.Broken:
		next = cluster.Failed
	case cluster.Completed, cluster.WalltimeExceeded, cluster.Deleted:
		next = cluster.Terminated
	}
	if next == p.job.State {
		return
	}
	job := *p.job
	job.Outcome = how
	if err := job.Become(next, p.rec.Cause); err != nil {
		e.leaveAlone(p, err.Error())
		return
	}
	p.job = &job
	if next == cluster.Running && p.started.IsZero() {
		p.started = e.now
	}
	e.writeJob(p)
	e.event(journal.Event{
		Kind: journal.EventState, VJob: p.job.ID, Plan: p.plan(), State: next.String(),
		Text: fmt.Sprintf("vjob %s is %s", p.job.ID, next), Cause: p.rec.Cause,
	})
}

func (e *Executor) writeJob(p *gangState) {
	change := journal.VJobChange{
		ID: p.job.ID, State: p.job.State, Held: p.job.Held, Hold: p.job.Hold, Cause: p.job.Cause, Outcome: p.job.Outcome,
		Version: p.job.Version, Started: p.started,
	}
	if p.job.State.Terminal() {
		change.Ended = e.now
		e.end(p)
	}
	e.out.Step.VJobs = append(e.out.Step.VJobs, change)
}

// finish closes the assignment that led to a stable phase, and forgets a vjob
// that has ended.
func (e *Executor) finish(p *gangState) {
	if len(p.todo) > 0 && p.todo[0].begun {
		a := p.todo[0]
		good := e.reached(p, a)
		for _, id := range a.gang.Actions {
			if good(a.run.plan.Actions[id].VM.Rank) {
				e.mark(a.run, id, journal.PlanDone, "")
			}
		}
		if a.failed() {
			p.failures++
			p.failedAt, p.why = e.now, p.failure()
			e.drop(p, journal.PlanFailed, p.why)
		} else {
			p.failures, p.refusals = 0, nil
			p.todo = p.todo[1:]
		}
	}
	if p.job.State.Terminal() {
		e.drop(p, journal.PlanDropped, "the vjob has ended")
		if len(p.rec.Kept) > 0 {
			e.kept[p.job.ID] = p.rec.Clone()
		}
		delete(e.gangs, p.job.ID)
		delete(e.active, p.job.ID)
		delete(e.containers, p.job.ID)
	}
}

// failure says why the gang did not get where its assignment wanted it.
func (p *gangState) failure() string {
	switch c := &p.rec.Cause; c.Kind {
	case cluster.CauseAborted, cluster.CauseLost:
		return c.Text
	default:
		return "not all of its VMs got where they were to be"
	}
}

// reached tells which members are where the assignment wanted them.
func (e *Executor) reached(p *gangState, a *assignment) func(rank int) bool {
	phase := map[cluster.ActionKind]gang.Phase{
		cluster.Boot: gang.Active, cluster.Resume: gang.Active, cluster.Migrate: gang.Active,
		cluster.Suspend: gang.Saved, cluster.Stop: gang.Absent, cluster.Pause: gang.Paused, cluster.Unpause: gang.Active,
	}[a.gang.Kind]
	return func(rank int) bool {
		if p.rec.Phase != phase {
			return false
		}
		m := p.rec.Members[rank]
		if a.gang.Kind != cluster.Migrate || m.Ended {
			return true
		}
		act, _ := a.hop(rank)
		return act == nil || act.To == m.Node
	}
}

// failed reports whether an action of the gang is still not done.
func (a *assignment) failed() bool {
	for _, id := range a.gang.Actions {
		if a.run.state[id] != journal.PlanDone {
			return true
		}
	}
	return false
}

// touchWaiters wakes the gangs that may have waited for what just ended.
func (e *Executor) touchWaiters() {
	for id := range e.denied {
		e.dirty[id] = true
	}
	clear(e.denied)
}

// alarm raises an alarm for administrators, once in a phase.
func (e *Executor) alarm(p *gangState, text string) {
	if p.alarms[text] {
		return
	}
	if p.alarms == nil {
		p.alarms = map[string]bool{}
	}
	p.alarms[text] = true
	e.event(journal.Event{Kind: journal.EventAlarm, VJob: p.job.ID, Plan: p.plan(), Text: text})
}
