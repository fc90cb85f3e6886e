package decide

import (
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
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

// Applicant returns what a vjob asks for that has not run yet, without its rules.
func (s *Settings) Applicant(job *cluster.VJob) ctxswitch.Applicant {
	return newApplicant(job, func(vm cluster.VMID) cluster.Resources { return s.Needs(job, vm.Rank, 0, false) })
}

// eachVJob yields the index of each vjob with its index among the applicants, or -1.
func (v *View) eachVJob(yield func(report, place int) bool) {
	next := 0
	for i := range v.VJobs {
		at := -1
		if next < len(v.layout.applicants) && v.layout.applicants[next].VJob == v.VJobs[i].Job.ID {
			at = next
			next++
		}
		if !yield(i, at) {
			return
		}
	}
}
