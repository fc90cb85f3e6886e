package execute

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
)

// tellEnd reports a vjob that ends, and asks for another attempt where its owner wants one.
func (en *engine) tellEnd(p *gangState) {
	past := journal.EndedVJob{
		ID: p.job.ID, Array: p.job.Array, Outcome: p.job.Outcome, Exit: p.job.Exit, Started: p.hasStarted(), Again: en.resubmits(p),
	}
	if past.Again {
		en.out.Step.Again = append(en.out.Step.Again, journal.Attempt{
			Of: p.job.ID, At: en.now,
			Text: fmt.Sprintf("attempt %d of %d: vjob %s failed: %s", p.job.Attempts+2, en.settings.Attempts, p.job.ID, p.rec.Cause),
		})
	}
	if en.hooks.Ended != nil {
		en.hooks.Ended(past)
	}
}

// resubmits reports whether a vjob that ends is to be submitted again: one that was lost, or that asks for it with
// its exit status. Otherwise it has failed by a decision or by its own work, which would be the same again.
func (en *engine) resubmits(p *gangState) bool {
	return p.job.Idempotent && p.job.State == cluster.Failed && p.job.Attempts+1 < en.settings.Attempts &&
		(p.rec.Losses > 0 || p.job.Exit.Value() == cluster.ExitAgain)
}

func (en *engine) hold(p *gangState, held bool, cause *cluster.Cause) {
	if p.job.Held == held {
		return
	}
	job := p.changing()
	en.changed(p)
	job.Held, job.Hold = held, nil
	if held {
		job.Hold = cause
	}
	job.Version++
	en.changes++
	en.writeJob(p)
	en.event(journal.Event{
		Kind: journal.EventState, VJob: p.job.ID, State: p.job.State.String(), Text: fmt.Sprintf("vjob %s", p.job.ID), Cause: cause,
	})
}

// updateJobState gives the vjob the state that belongs to the phase of its gang.
func (en *engine) updateJobState(p *gangState) {
	next, how := p.rec.State(), cluster.Open
	if p.rec.Phase == gang.Absent {
		how = p.rec.Then.Outcome()
	}
	switch how {
	case cluster.Open:
	case cluster.Broken, cluster.Unsuccessful:
		next = cluster.Failed
	case cluster.Completed, cluster.WalltimeExceeded, cluster.Deleted:
		next = cluster.Terminated
	}
	if next == p.job.State {
		return
	}
	job := *p.job
	job.Outcome = how
	if how == cluster.Completed || how == cluster.Unsuccessful {
		job.Exit, _, _ = job.Result(p.rec.Exits())
	}
	if err := job.Become(next, p.rec.Cause); err != nil {
		en.leaveAlone(p, err.Error())
		return
	}
	p.job = &job
	if next == cluster.Waiting || next == cluster.Failed && p.rec.Cause.Is(cluster.CauseLost) {
		en.out.Step.Discarded = append(en.out.Step.Discarded, journal.DiscardedRun{VJob: job.ID, At: en.now, Cause: p.rec.Cause.Fields().Kind})
	}
	if next == cluster.Running && p.started.IsZero() {
		if en.hooks.Started != nil && p.account.ran == 0 {
			en.hooks.Started(p.job, en.now)
		}
		p.started = en.now
	}
	en.writeJob(p)
	en.event(journal.Event{
		Kind: journal.EventState, VJob: p.job.ID, Plan: p.plan(), State: next.String(),
		Text: fmt.Sprintf("vjob %s %s", p.job.ID, next.Clause()), Cause: p.rec.Cause,
	})
}

func (en *engine) writeJob(p *gangState) {
	change := journal.VJobChange{
		ID: p.job.ID, State: p.job.State, Held: p.job.Held, Hold: p.job.Hold, Cause: p.job.Cause, Outcome: p.job.Outcome, Exit: p.job.Exit,
		Version: p.job.Version, Started: p.started,
	}
	if p.job.State.Terminal() {
		change.Ended = en.now
		en.tellEnd(p)
	}
	en.out.Step.VJobs = append(en.out.Step.VJobs, change)
}

// finish closes the assignment that led to a stable phase, and forgets a vjob
// that has ended.
func (en *engine) finish(p *gangState) {
	if len(p.todo) > 0 && p.todo[0].begun {
		a := p.todo[0]
		good := p.reached(a)
		for _, id := range a.gang.Actions {
			if act := &a.plan.actions[id]; good(act.VM.Rank) {
				en.done(p, a, act)
			}
		}
		if a.failed() {
			p.failures.add(en.now, p.failure())
			p.drop(journal.PlanFailed, p.failures.why)
		} else {
			p.failures.forget()
			p.todo = p.todo[1:]
		}
	}
	if p.job.State.Terminal() {
		p.drop(journal.PlanDropped, "the vjob has ended")
		en.gangs.remove(p)
		en.nodes.renewAll(p.job)
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

func (en *engine) tellSkew(p *gangState, phase gang.Phase, skew time.Duration) {
	kind := "pause"
	if phase == gang.Resuming {
		kind = "resume"
	}
	if plan := p.plan(); plan != 0 {
		en.out.Step.Skews = append(en.out.Step.Skews, journal.SkewChange{Plan: plan, VJob: p.job.ID, Kind: kind, Skew: skew})
	}
}
