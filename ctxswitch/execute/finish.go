package execute

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
)

// end tells of a vjob that ends, and asks for another attempt where its owner wants one.
func (d *driver) end(p *gangState) {
	past := journal.EndedVJob{
		ID: p.job.ID, Array: p.job.Array, Outcome: p.job.Outcome, Started: p.hasStarted(), Again: d.again(p),
	}
	if past.Again {
		d.out.Step.Again = append(d.out.Step.Again, journal.Attempt{
			Of: p.job.ID, At: d.now,
			Text: fmt.Sprintf("attempt %d of %d: vjob %s failed: %s", p.job.Attempts+2, d.settings.Attempts, p.job.ID, p.rec.Cause),
		})
	}
	if d.hooks.Ended != nil {
		d.hooks.Ended(past)
	}
}

// again reports whether a vjob that ends is to be submitted again. One that fails
// without ever having been lost has failed by a decision, which would be the same again.
func (d *driver) again(p *gangState) bool {
	return p.job.Idempotent && p.job.State == cluster.Failed && p.rec.Losses > 0 && p.job.Attempts+1 < d.settings.Attempts
}

func (d *driver) hold(p *gangState, held bool, cause cluster.Cause) {
	if p.job.Held == held {
		return
	}
	job := p.changing()
	job.Held, job.Hold = held, cluster.Cause{}
	if held {
		job.Hold = cause
	}
	job.Version++
	d.changes++
	d.writeJob(p)
	d.event(journal.Event{
		Kind: journal.EventState, VJob: p.job.ID, State: p.job.State.String(), Text: fmt.Sprintf("vjob %s", p.job.ID), Cause: cause,
	})
}

// show moves the vjob's own state after the phase of its gang.
func (d *driver) show(p *gangState) {
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
		d.leaveAlone(p, err.Error())
		return
	}
	p.job = &job
	if next == cluster.Running && p.started.IsZero() {
		p.started = d.now
	}
	d.writeJob(p)
	d.event(journal.Event{
		Kind: journal.EventState, VJob: p.job.ID, Plan: p.plan(), State: next.String(),
		Text: fmt.Sprintf("vjob %s is %s", p.job.ID, next), Cause: p.rec.Cause,
	})
}

func (d *driver) writeJob(p *gangState) {
	change := journal.VJobChange{
		ID: p.job.ID, State: p.job.State, Held: p.job.Held, Hold: p.job.Hold, Cause: p.job.Cause, Outcome: p.job.Outcome,
		Version: p.job.Version, Started: p.started,
	}
	if p.job.State.Terminal() {
		change.Ended = d.now
		d.end(p)
	}
	d.out.Step.VJobs = append(d.out.Step.VJobs, change)
}

// finish closes the assignment that led to a stable phase, and forgets a vjob
// that has ended.
func (d *driver) finish(p *gangState) {
	if len(p.todo) > 0 && p.todo[0].begun {
		a := p.todo[0]
		good := p.reached(a)
		for _, id := range a.gang.Actions {
			if good(a.plan.actions[id].VM.Rank) {
				a.plan.mark(id, journal.PlanDone, "")
			}
		}
		if a.failed() {
			p.failures.add(d.now, p.failure())
			p.drop(journal.PlanFailed, p.failures.why)
		} else {
			p.failures.forget()
			p.todo = p.todo[1:]
		}
	}
	if p.job.State.Terminal() {
		p.drop(journal.PlanDropped, "the vjob has ended")
		d.gangs.remove(p)
	}
}

// failed reports whether an action of the gang is still not done.
func (a *assignment) failed() bool {
	for _, id := range a.gang.Actions {
		if a.plan.state[id] != journal.PlanDone {
			return true
		}
	}
	return false
}

func (d *driver) tellSkew(p *gangState, phase gang.Phase, skew time.Duration) {
	kind := "pause"
	if phase == gang.Resuming {
		kind = "resume"
	}
	if plan := p.plan(); plan != 0 {
		d.out.Step.Skews = append(d.out.Step.Skews, journal.SkewChange{Plan: plan, VJob: p.job.ID, Kind: kind, Skew: skew})
	}
}
