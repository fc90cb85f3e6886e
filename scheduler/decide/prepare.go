package decide

import (
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
)

// A reservation needs its places free at its first second, and VMs there may have to move first.
// During its lead time plans are made as if it began now, and carried out without its own actions:
// VMs move in time, and vjobs that start meanwhile do so elsewhere.

// prepareReservations adds the reservations for which nodes are cleared to the planning problem,
// if there is a plan with which they could begin now beside the running vjobs. A reservation that
// needs a vjob to end first is not added: nothing moves for it before that.
func (p *View) prepareReservations(verdicts []queue.Verdict) {
	for _, i := range p.nearReservations() {
		p.prepared = append(p.prepared, p.addReservation(i))
	}
	if len(p.prepared) == 0 {
		return
	}
	goals, _ := p.goals(p.withoutStarters(verdicts))
	if _, err := p.plan(goals); err != nil {
		p.prepared = nil
	}
}

// plan makes a plan with which the prepared reservations could begin now, and leaves their own
// actions out.
func (p *View) plan(goals []ctxswitch.Goal) (ctxswitch.Plan, error) {
	problem := p.problem(goals)
	for _, id := range p.prepared {
		problem.Gangs = append(problem.Gangs, ctxswitch.Goal{VJob: id, Want: cluster.VMRunning})
	}
	plan, err := p.settings.Planner.Plan(problem)
	if err != nil || len(p.prepared) == 0 {
		return plan, err
	}
	return plan.Without(p.prepared, p.current), nil
}

// nearReservations returns the vjobs that wait within the lead time of their reservations.
func (p *View) nearReservations() (list []int) {
	lead := p.leads().Suspend
	for i := range p.VJobs {
		r := &p.VJobs[i]
		if from := r.Job.Reservation; from.IsZero() || !p.now.Before(from) || p.now.Before(from.Add(-lead)) {
			continue
		}
		waits := r.Job.State == cluster.Waiting || r.Job.State == cluster.Suspended
		if waits && r.Idle && !r.Blind && !r.Job.Held && p.ineligible[r.Job.ID] == "" && p.quarantined[r.Job.ID] == "" {
			list = append(list, i)
		}
	}
	return list
}

// addReservation adds a vjob to the configuration of the planner if it is an applicant.
func (p *View) addReservation(i int) cluster.VJobID {
	id := p.VJobs[i].Job.ID
	for k := range p.applicants {
		if p.applicants[k].VJob == id {
			p.addApplicant(&p.applicants[k])
		}
	}
	return id
}

// withoutStarters returns the verdicts with all starting vjobs waiting.
func (p *View) withoutStarters(verdicts []queue.Verdict) []queue.Verdict {
	list := make([]queue.Verdict, len(verdicts))
	for i, v := range verdicts {
		list[i] = v
		if v.Target == queue.Run && p.VJobs[i].Job.State.Ready() && p.VJobs[i].Idle {
			list[i].Target = queue.Wait
		}
	}
	return list
}
