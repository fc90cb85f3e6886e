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

// Applicants are vjobs on no node. They are not in the configurations of a view, so that a long
// queue costs little.

// isApplicant reports whether a vjob is on no node and nothing is under way for it.
func isApplicant(r *execute.Report) bool {
	return r.Idle && !r.Blind && r.Job.State == cluster.Waiting && r.Record.Phase == gang.Absent &&
		!slices.ContainsFunc(r.Record.Members, func(m gang.Member) bool { return m.Ended || m.Image != nil })
}

// newApplicant returns the applicant of a vjob, without its rules.
func newApplicant(job *cluster.VJob, need func(vm cluster.VMID) cluster.Resources) ctxswitch.Applicant {
	a := ctxswitch.Applicant{VJob: job.ID, Needs: make([]cluster.Resources, len(job.VMs))}
	for rank := range a.Needs {
		a.Needs[rank] = need(job.VMs[rank].ID)
		a.Total = a.Total.Plus(a.Needs[rank])
	}
	return a
}

// eachVJob yields the index of each vjob with its index among the applicants, or -1.
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

// addStarters adds the applicants that should run to the configuration of the planner.
func (p *View) addStarters(verdicts []queue.Verdict) {
	for i, at := range p.eachVJob {
		if at < 0 || verdicts[i].Target != queue.Run {
			continue
		}
		p.addApplicant(&p.applicants[at])
	}
}

// addApplicant adds an applicant to the configuration of the planner.
func (p *View) addApplicant(a *ctxswitch.Applicant) {
	vm := cluster.VMID{VJob: a.VJob}
	if _, known := p.current.State(vm); known {
		return // an earlier attempt has added it
	}
	for rank, need := range a.Needs {
		vm.Rank = rank
		p.current.SetWaiting(vm, need)
	}
	if a.Rules != "" {
		p.rules = append(p.rules, placement.Rules{VJob: a.VJob, Text: a.Rules})
	}
}

// job returns what policies know of a vjob, given its index among the applicants.
func (p *View) job(i, at int, counts map[cluster.VMID]cluster.Resources) queue.Job {
	r := &p.VJobs[i]
	job := queue.Job{
		VJob: r.Job, Busy: !r.Idle || r.Blind, Bound: bound(r), Ran: r.Ran, Since: r.Record.Since, Ineligible: p.ineligible[r.Job.ID],
		NonPreemptible: p.nonPreemptible[r.Job.ID],
	}
	if rules := p.settings.Ordering; rules != nil {
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
