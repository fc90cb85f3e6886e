package decide

import (
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/placement"
	"vjob/queue"
)

// The line is what a picture has of vjobs that are nowhere: they are not in its
// configurations, so that a long queue costs little.

// isApplicant reports whether a vjob is nowhere, and nothing is under way for it.
func isApplicant(r *execute.Report) bool {
	return r.Idle && !r.Blind && r.Job.State == cluster.Waiting && r.Record.Phase == gang.Absent &&
		!slices.ContainsFunc(r.Record.Members, func(m gang.Member) bool { return m.Ended || m.Image != nil })
}

// newApplicant is a vjob in the line, but for its rules.
func newApplicant(job *cluster.VJob, need func(vm cluster.VMID) cluster.Resources) ctxswitch.Applicant {
	a := ctxswitch.Applicant{VJob: job.ID, Needs: make([]cluster.Resources, len(job.VMs))}
	for rank := range a.Needs {
		a.Needs[rank] = need(job.VMs[rank].ID)
		a.Total = a.Total.Plus(a.Needs[rank])
	}
	return a
}

// eachVJob goes through the vjobs with their places in the line; -1: elsewhere.
func (p *View) eachVJob(yield func(report, place int) bool) {
	next := 0
	for i := range p.VJobs {
		at := -1
		if next < len(p.applicants) && p.applicants[next].VJob == p.VJobs[i].Job.ID {
			at = next
			next++
		}
		if !yield(i, at) {
			return
		}
	}
}

// addStarters has the planner know of those in the line that are to run.
func (p *View) addStarters(verdicts []queue.Verdict) {
	for i, at := range p.eachVJob {
		if at < 0 || verdicts[i].Target != queue.Run {
			continue
		}
		p.addApplicant(&p.applicants[at])
	}
}

// addApplicant has the planner know of one in the line.
func (p *View) addApplicant(a *ctxswitch.Applicant) {
	vm := cluster.VMID{VJob: a.VJob}
	if _, known := p.current.State(vm); known {
		return // when a plan was looked for in vain
	}
	for rank, need := range a.Needs {
		vm.Rank = rank
		p.current.SetWaiting(vm, need)
	}
	if a.Rules != "" {
		p.rules = append(p.rules, placement.Rules{VJob: a.VJob, Text: a.Rules})
	}
}

// job is what policies know of a vjob, given its place in the line.
func (p *View) job(i, at int, counts map[cluster.VMID]cluster.Resources) queue.Job {
	r := &p.VJobs[i]
	job := queue.Job{
		VJob: r.Job, Busy: !r.Idle || r.Blind, Bound: bound(r), Ran: r.Ran, Since: r.Record.Since, Ineligible: p.ineligible[r.Job.ID],
		NonPreemptible: p.nonPreemptible[r.Job.ID],
	}
	if rules := p.settings.Arrangement; rules != nil {
		job.Level = rules.Level(r.Job)
	}
	if at >= 0 {
		job.Need = p.applicants[at].Total
		return job
	}
	for k := range r.Job.VMs {
		job.Need = job.Need.Plus(counts[r.Job.VMs[k].ID])
	}
	return job
}
