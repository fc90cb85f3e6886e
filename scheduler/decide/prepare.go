package decide

import (
	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/queue"
)

// A reservation needs its places free at its first second, and VMs there may have to move first.
// During its lead time plans are made as if it began now, and carried out without its own actions:
// VMs move in time, and vjobs that start meanwhile do so elsewhere.

// prepareReservations adds the reservations for which nodes are cleared to the planning problem,
// if there is a plan with which they could begin now beside the running vjobs. A reservation that
// needs a vjob to end first is not added: nothing moves for it before that.
func (a *attempt) prepareReservations(verdicts []queue.Verdict) {
	for _, i := range a.nearReservations() {
		id := a.VJobs[i].Job.ID
		a.trial.startVJob(id)
		a.prepared = append(a.prepared, id)
	}
	if len(a.prepared) == 0 {
		return
	}
	goals, _ := a.goals(withoutStarters(a.VJobs, verdicts))
	if _, err := a.makePlan(goals); err != nil {
		a.prepared = nil
	}
}

// nearReservations returns the vjobs that wait within the lead time of their reservations.
func (a *attempt) nearReservations() (list []int) {
	lead := a.leads().Suspend
	for i := range a.VJobs {
		r := &a.VJobs[i]
		if from := r.Job.Reservation; from.IsZero() || !a.facts.Now.Before(from) || a.facts.Now.Before(from.Add(-lead)) {
			continue
		}
		waits := r.Job.State == cluster.Waiting || r.Job.State == cluster.Suspended
		if waits && r.Idle && !r.Blind && !r.Job.Held && !a.excludes(r.Job.ID) {
			list = append(list, i)
		}
	}
	return list
}

// withoutStarters returns the verdicts with all starting vjobs waiting.
func withoutStarters(vjobs []execute.Report, verdicts []queue.Verdict) []queue.Verdict {
	list := make([]queue.Verdict, len(verdicts))
	for i, v := range verdicts {
		list[i] = v
		if v.Target == queue.Run && vjobs[i].Job.State.Ready() && vjobs[i].Idle {
			list[i].Target = queue.Wait
		}
	}
	return list
}
