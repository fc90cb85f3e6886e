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

// applies reports whether a vjob is nowhere, and nothing is under way for it.
func applies(r *execute.Report) bool {
	return r.Idle && !r.Blind && r.Job.State == cluster.Waiting && r.Record.Phase == gang.Absent &&
		!slices.ContainsFunc(r.Record.Members, func(m gang.Member) bool { return m.Ended || m.Image != nil })
}

// applicant is a vjob in the line, but for its rules.
func applicant(job *cluster.VJob, need func(vm cluster.VMID) cluster.Resources) ctxswitch.Applicant {
	a := ctxswitch.Applicant{VJob: job.ID, Needs: make([]cluster.Resources, len(job.VMs))}
	for rank := range a.Needs {
		a.Needs[rank] = need(job.VMs[rank].ID)
		a.Total = a.Total.Plus(a.Needs[rank])
	}
	return a
}

// lined goes through the vjobs with their places in the line; -1: elsewhere.
func (p *View) lined(yield func(report, place int) bool) {
	next := 0
	for i := range p.VJobs {
		at := -1
		if next < len(p.line) && p.line[next].VJob == p.VJobs[i].Job.ID {
			at = next
			next++
		}
		if !yield(i, at) {
			return
		}
	}
}

// admit has the planner know of those in the line that are to run.
func (p *View) admit(verdicts []queue.Verdict) {
	for i, at := range p.lined {
		if at < 0 || verdicts[i].Target != queue.Run {
			continue
		}
		p.let(&p.line[at])
	}
}

// let has the planner know of one in the line.
func (p *View) let(a *ctxswitch.Applicant) {
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
		VJob: r.Job, Busy: !r.Idle || r.Blind, Bound: bound(r), Ran: r.Ran, Since: r.Record.Since, Ineligible: p.barred[r.Job.ID],
		NonPreemptible: p.stays[r.Job.ID],
	}
	if rules := p.settings.Arrangement; rules != nil {
		job.Level = rules.Level(r.Job)
	}
	if at >= 0 {
		job.Need = p.line[at].Total
		return job
	}
	for k := range r.Job.VMs {
		job.Need = job.Need.Plus(counts[r.Job.VMs[k].ID])
	}
	return job
}
