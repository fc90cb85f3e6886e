package scheduler

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/scheduler/admission"
)

// admitInside returns why a vjob cannot run inside the container that it names.
func admitInside(exec *execute.Executor, s *admission.Submission) error {
	r, live := exec.Job(s.Inner)
	wrong := func(want string) error { return cluster.BadField("inner", s.Inner, want) }
	switch {
	case !live || r.Job.Owner != s.Owner: // containers of other users are not revealed
		return wrong("the number of a container of yours that has not ended")
	case !r.Job.Container:
		return wrong("the number of a container")
	case r.Record.Then.Outcome() != cluster.Open:
		return wrong("a container that goes on: it is ending")
	}
	if left := r.Job.Walltime - r.Ran; s.Walltime > left {
		return cluster.Fault("walltime_seconds", "%s requested, container %s holds its resources for %s", s.Walltime, s.Inner, left.Round(time.Second))
	}
	return s.FitsInside(r.Job)
}

// hardToSave is after how many failed attempts a vjob that must leave its container is ended instead
// of saved: other vjobs wait for its resources.
const hardToSave = 3

// clearInside ends the vjobs of containers that have ended or are about to: running vjobs end as
// their container does, waiting ones fail. It reports whether there are any.
func clearInside(exec *execute.Executor, now time.Time, vjobs []execute.Report) (some bool) {
	containers := map[cluster.VJobID]*execute.Report{}
	for i := range vjobs {
		if vjobs[i].Job.Container {
			containers[vjobs[i].Job.ID] = &vjobs[i]
		}
	}
	for i := range vjobs {
		r := &vjobs[i]
		if r.Job.Inner == 0 || r.Record.Phase == gang.Clearing && r.Record.Then.Outcome() != cluster.Open {
			continue
		}
		then, cause := gang.ThenFail, cluster.Because(fmt.Sprintf("its container %s has ended", r.Job.Inner))
		if box := containers[r.Job.Inner]; box != nil {
			leaves := box.Record.Phase == gang.Clearing
			switch ends := leaves && box.Record.Then.Outcome() != cluster.Open; {
			case ends && !r.Job.State.Ready():
				then = box.Record.Then
				cause = &cluster.Cause{Kind: cluster.CauseContainer, VJobs: []cluster.VJobRef{box.Job.Ref()}, Text: box.Record.Cause.String()}
			case ends:
			case leaves && r.Idle && !r.Job.State.Ready() && r.Failures >= hardToSave:
				then = gang.ThenWait
				cause = cluster.Because(fmt.Sprintf("its container %s gives its room back, and it could not be saved: it starts anew", box.Job.ID))
			default:
				continue
			}
		}
		_ = exec.Clear(now, r.Job.ID, then, cause) // the vjob was just listed
		some = true
	}
	return some
}
