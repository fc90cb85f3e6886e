package decide

import (
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
)

// goals translates the verdicts for the planner, in order. Change reports whether any vjob
// changes its state.
func (p *View) goals(verdicts []queue.Verdict) (goals []ctxswitch.Goal, change bool) {
	for i, r := range p.VJobs {
		if !r.Idle || r.Blind || p.quarantined[r.Job.ID] != "" {
			continue
		}
		state, barred := r.Job.State, p.ineligible[r.Job.ID] != ""
		want, wanted := cluster.VMRunning, state == cluster.Running
		switch wish := verdicts[i].Target; {
		case wish == queue.Run:
			wanted = true
		case wish == queue.Suspend && !barred && state == cluster.Running && r.Job.Container:
			p.unpin(r.Job)
			want, wanted = cluster.VMTerminated, true // it releases its resources and waits
		case wish == queue.Suspend && !barred && state == cluster.Running && queue.IsEnded(r.Job):
			want, wanted = cluster.VMTerminated, true
		case wish == queue.Suspend && !barred && (state == cluster.Running || state == cluster.Paused):
			want, wanted = cluster.VMSleeping, true
		case wish == queue.Pause && !barred && state == cluster.Running:
			want = cluster.VMPaused
		}
		if wanted {
			goals = append(goals, ctxswitch.Goal{VJob: r.Job.ID, Want: want})
			change = change || want != cluster.VMRunning || state != cluster.Running
		}
	}
	return goals, change
}

// unpin lets the planner reuse the resources of a container.
func (p *View) unpin(job *cluster.VJob) {
	for i := range job.VMs {
		delete(p.pinned, job.VMs[i].ID)
	}
}
