package decide

import (
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
)

// A reservation that is to begin in its second wants its places free by then, and whoever
// stands on them may have to move first. So as long as room is made for one, plans are
// looked for as if it began now, and all of it is carried out but its own actions: the others
// move in time, and who starts meanwhile does so elsewhere.

// prepareReservations tells the planner of the reservations for which room is being made, if there is
// a plan with which they could begin now, beside those that run. Those for whom somebody
// has to end first are not among them: for them nobody moves before that.
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

// plan looks for a plan with which the rehearsed reservations could begin now, and leaves
// their own actions out.
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

// nearReservations are the vjobs for whose reservations room is being made.
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

// addReservation has the planner know of a vjob, which may be in the line.
func (p *View) addReservation(i int) cluster.VJobID {
	id := p.VJobs[i].Job.ID
	for k := range p.applicants {
		if p.applicants[k].VJob == id {
			p.addApplicant(&p.applicants[k])
		}
	}
	return id
}

// withoutStarters are the verdicts with nobody to start.
func (p *View) withoutStarters(verdicts []queue.Verdict) []queue.Verdict {
	list := make([]queue.Verdict, len(verdicts))
	for i, v := range verdicts {
		if list[i] = v; v.Target == queue.Run && p.VJobs[i].Job.State.Ready() && p.VJobs[i].Idle {
			list[i].Target = queue.Wait
		}
	}
	return list
}
