package execute

import (
	"cmp"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// driver drives gangs: it has the protocol decide what is next, commits the records and makes the
// calls.
type driver struct {
	*batch
	settings *Settings
	hooks    *Hooks
	gangs    *gangs
	nodes    *nodes
	calls    *calls
	capacity *capacity
	inputs   *inputs
	accounts *accounts
}

// drive takes a gang as far as it can go without a further reply or look. It reports whether the
// gang is left to go on later: it has not ended, and is not left alone.
func (d *driver) drive(p *gangState) (live bool) {
	for range 4 * (len(p.rec.Members) + 8) { // every turn changes a phase or a member
		d.advancePlan(p)
		d.giveWay(p)
		if p.broken != "" {
			return false
		}
		turn := d.inputs.step(p)
		p.wait = turn.Wait
		for _, alarm := range turn.Alarms {
			d.alarm(p, alarm)
		}
		if turn.Changed {
			d.commit(p, turn.Record)
		}
		if p.broken != "" {
			return false
		}
		if turn.Hold != "" {
			d.hold(p, true, cluster.Because(turn.Hold))
		}
		for _, chain := range turn.Chains {
			d.issue(p, chain)
		}
		if _, live := d.gangs.live[p.job.ID]; !live {
			return false
		}
		if !turn.Changed {
			d.gangs.active[p.job.ID] = p
			if p.rests(d.now) {
				delete(d.gangs.active, p.job.ID)
			}
			return true
		}
	}
	d.leaveAlone(p, fmt.Sprintf("its gang does not come to rest in phase %s", p.rec.Phase))
	return false
}

// leaveAlone gives up a vjob for which an invariant does not hold: that is a defect, or a
// damaged database. Nothing is done with it until the next start; the others go on.
func (d *driver) leaveAlone(p *gangState, invariant string) {
	p.broken = invariant
	p.wait = "left alone: " + invariant
	p.drop(journal.PlanDropped, p.wait)
	d.alarm(p, fmt.Sprintf("vjob %s is left alone: %s; its VMs and images stay as they are: report this, with what `vjob show %s` prints",
		p.job.ID, invariant, p.job.ID))
	d.changes++
	delete(d.gangs.active, p.job.ID)
}

// advancePlan begins the next gang of the vjob's plans when it is ready, and
// sends members with several hops on.
func (d *driver) advancePlan(p *gangState) {
	if len(p.todo) == 0 {
		return
	}
	a := p.todo[0]
	if why := cmp.Or(a.blocked(), d.outside(p, a)); why != "" {
		if !a.begun {
			p.drop(journal.PlanDropped, why)
			return
		}
		p.phase.turnBack(why)
	}
	switch {
	case !a.begun:
		if p.rec.Phase.Stable() && a.ready() {
			d.beginNext(p, a)
		}
	case p.rec.Phase == gang.Moving || p.rec.Phase == gang.Shifting:
		d.nextHop(p, a)
	}
}

// beginNext begins an assignment that is ready.
func (d *driver) beginNext(p *gangState, a *assignment) {
	if a.gang.Kind == cluster.Unpause && !d.mayUnpause(p) {
		return
	}
	rec, err := p.rec.Begin(a.aim(len(p.rec.Members)), d.now)
	if err != nil {
		p.drop(journal.PlanDropped, err.Error())
		return
	}
	a.begun = true
	for _, id := range a.gang.Actions {
		a.plan.mark(id, journal.PlanRunning, "")
	}
	d.commit(p, rec)
}

// nextHop notes the hops that are done, whatever the replies to their calls were, and
// sends the members on that have more.
func (d *driver) nextHop(p *gangState, a *assignment) {
	for rank, m := range p.rec.Members {
		if m.Next != "" {
			continue
		}
		act, may := a.hop(rank)
		for act != nil && act.To == m.Node {
			p.memberOf(rank).err = nil
			a.plan.mark(act.ID, journal.PlanDone, "")
			act, may = a.hop(rank)
		}
		if act != nil && may && !p.stays(rank) {
			p.memberOf(rank).tries = 0 // each hop has its own
			d.commit(p, p.rec.Hop(rank, act.To))
		}
	}
}

// giveWay turns a gang back that has waited too long for room.
func (d *driver) giveWay(p *gangState) {
	if !p.phase.denied.IsZero() && d.now.Sub(p.phase.denied) >= d.settings.Patience {
		p.phase.turnBack(fmt.Sprintf("no room after %s of waiting", d.settings.Patience))
	}
	p.phase.denied = p.keepDenied()
}

// commit makes a new record the present one and notifies all that depends on it.
func (d *driver) commit(p *gangState, rec gang.Record) {
	before := p.rec
	p.rec = rec
	p.recordRefusals(&before, &rec, d.now)
	d.nodes.updateJobsOnAll(p)
	if len(rec.Kept) > 0 {
		d.gangs.withImages[p.job.ID] = true
	}
	d.out.Step.Gangs = append(d.out.Step.Gangs, *rec.Clone())
	if before.Phase == rec.Phase && before.Then == rec.Then {
		return
	}
	d.accounts.phaseChanged(p)
	d.changes++
	if skew := p.phase.skew(); skew > 0 && (before.Phase == gang.Pausing || before.Phase == gang.Resuming) {
		d.tellSkew(p, before.Phase, skew)
	}
	p.phaseChanged()
	d.touchContainer(p)
	d.show(p)
	if rec.Phase.Stable() && p.broken == "" {
		d.finish(p)
	}
	d.touchWaiters()
}

// issue begins a chain of calls for a gang.
func (d *driver) issue(p *gangState, calls []hypervisor.Call) {
	for i := range calls {
		calls[i].Rate = p.rate(&calls[i])
		p.addCap(&calls[i])
	}
	d.calls.begin(calls, p.plan(), true, func(call hypervisor.Call) time.Duration {
		p.hold(call, d.now)
		return d.calls.deadline(p, call)
	})
}

// mayUnpause reports whether a gang that is paused in memory may continue now: its nodes have the
// CPU that its members need. When they lack it for too long, the gang gives up its aim and stays
// paused, and the policy decides.
func (d *driver) mayUnpause(p *gangState) bool {
	if d.capacity.mayRun(p) {
		return true
	}
	d.denied[p.job.ID] = true
	if p.phase.denied.IsZero() {
		p.phase.denied = d.now
	}
	if d.now.Sub(p.phase.denied) >= d.settings.Patience {
		p.phase.denied = time.Time{}
		p.failures.add(d.now, fmt.Sprintf("no CPU or power to go on after %s of waiting", d.settings.Patience))
		p.drop(journal.PlanFailed, p.failures.why)
	}
	return false
}

// outside says why a vjob cannot begin inside its container, "" if it can.
func (d *driver) outside(p *gangState, a *assignment) string {
	if p.job.Inner == 0 {
		return ""
	}
	switch a.gang.Kind {
	case cluster.Suspend, cluster.Pause, cluster.Stop:
		return "" // it makes room
	default:
	}
	c, live := d.gangs.live[p.job.Inner]
	switch {
	case !live:
		return fmt.Sprintf("its container %s has ended", p.job.Inner)
	case c.rec.Phase != gang.Active:
		return fmt.Sprintf("its container %s is %s", c.job.ID, c.job.State)
	default:
		return ""
	}
}

// touchContainer wakes the gangs that depend on the new phase of a gang: the vjobs inside a
// container, or the container that waits for them to leave.
func (d *driver) touchContainer(p *gangState) {
	if p.job.Inner != 0 {
		d.dirty[p.job.Inner] = true
	}
	if !p.job.Container {
		return
	}
	for id, q := range d.gangs.live {
		if q.job.Inner == p.job.ID {
			d.dirty[id] = true
		}
	}
}

// wake passes on when gangs that wait, or back off, go on without an event.
func (d *driver) wake(at func(time.Time)) {
	for _, p := range d.gangs.active {
		for i := range p.members {
			t := &p.members[i]
			at(t.pace())
			at(t.absent.Add(d.settings.Limits.DepartureGrace))
			at(t.absent.Add(d.settings.Limits.StoreLag))
		}
		at(p.phase.denied.Add(d.settings.Patience))
		if p.rec.Phase == gang.Pausing {
			at(p.rec.Since.Add(d.settings.Limits.MaxSkew + time.Millisecond))
		}
	}
}
