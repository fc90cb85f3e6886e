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

// rehearse tells the planner of the reservations for which room is being made, if there is
// a plan with which they could begin now, beside those that run. Those for whom somebody
// has to end first are not among them: for them nobody moves before that.
func (p *View) rehearse(verdicts []queue.Verdict) {
	for _, i := range p.nearing() {
		p.coming = append(p.coming, p.enter(i))
	}
	if len(p.coming) == 0 {
		return
	}
	goals, _ := p.goals(p.withoutStarters(verdicts))
	if _, err := p.plan(goals); err != nil {
		p.coming = nil
	}
}

// plan looks for a plan with which the rehearsed reservations could begin now, and leaves
// their own actions out.
func (p *View) plan(goals []ctxswitch.Goal) (ctxswitch.Plan, error) {
	problem := p.problem(goals)
	for _, id := range p.coming {
		problem.Gangs = append(problem.Gangs, ctxswitch.Goal{VJob: id, Want: cluster.VMRunning})
	}
	plan, err := p.settings.Planner.Plan(problem)
	if err != nil || len(p.coming) == 0 {
		return plan, err
	}
	return plan.Without(p.coming, p.current), nil
}

// nearing are the vjobs for whose reservations room is being made.
func (p *View) nearing() (list []int) {
	lead := p.leads().Suspend
	for i := range p.VJobs {
		r := &p.VJobs[i]
		if from := r.Job.Reservation; from.IsZero() || !p.now.Before(from) || p.now.Before(from.Add(-lead)) {
			continue
		}
		waits := r.Job.State == cluster.Waiting || r.Job.State == cluster.Suspended
		if waits && r.Idle && !r.Blind && !r.Job.Held && p.barred[r.Job.ID] == "" && p.aside[r.Job.ID] == "" {
			list = append(list, i)
		}
	}
	return list
}

// enter has the planner know of a vjob, which may be in the line.
func (p *View) enter(i int) cluster.VJobID {
	id := p.VJobs[i].Job.ID
	for k := range p.line {
		if p.line[k].VJob == id {
			p.let(&p.line[k])
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
