package decide

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/queue"
)

// maxRounds bounds how often the policy is asked again because its targets cannot be met.
const maxRounds = 8

// selectTargets asks the policy which vjobs should run. If the images of a vjob cannot be stored it
// keeps running, and the policy is asked again.
func (a *attempt) selectTargets() (targets []queue.Verdict, fault error) {
	targets, fault = a.applyPolicy()
	first, tried := targets, map[int]bool{}
	for range maxRounds {
		standing := a.choosePaused(targets)
		lacks, news := a.imageShortages(standing), a.scaleUnsavable(standing)
		for i, lack := range lacks {
			if job := a.VJobs[i].Job; a.nonPreemptible[job.ID] == "" {
				a.nonPreemptible[job.ID], news = "it cannot be suspended: "+lack, true
			}
		}
		if i := a.stuck(lacks, tried); i >= 0 {
			tried[i] = true
			if own, ok := a.resumePausedFirst(i); ok {
				targets = own
				continue
			}
		}
		if !news {
			break
		}
		targets, fault = a.applyPolicy()
	}
	a.explainKept(first, targets)
	return targets, fault
}

// stuck returns the first paused vjob that should be saved and cannot, unless it was tried;
// otherwise -1.
func (a *attempt) stuck(lacks map[int]string, tried map[int]bool) int {
	for _, i := range slices.Sorted(maps.Keys(lacks)) {
		if job := a.VJobs[i].Job; job.State == cluster.Paused && !job.Held && !tried[i] {
			return i
		}
	}
	return -1
}

// resumePausedFirst asks the policy without the vjobs that want the memory of a paused vjob. It
// reports false, and undoes the change, if that does not let the paused vjob resume.
func (a *attempt) resumePausedFirst(stuck int) (targets []queue.Verdict, ok bool) {
	id, before := a.VJobs[stuck].Job.ID, a.excluded
	a.excluded = maps.Clone(before)
	why := fmt.Sprintf("vjob %s, which stands still in memory, goes on first: %s", id, a.nonPreemptible[id])
	for job := range a.jobs() {
		if startsFromDisk(job) && a.excluded[job.ID] == "" {
			a.excluded[job.ID] = why
		}
	}
	targets, fault := a.applyPolicy()
	if fault != nil || targets[stuck].Target != queue.Run {
		a.excluded = before
		return nil, false
	}
	return targets, true
}

// explainKept adds to the reason of each vjob that cannot start which vjob could not be
// suspended for it.
func (a *attempt) explainKept(first, targets []queue.Verdict) {
	var kept string
	for i := range a.VJobs {
		if why := a.nonPreemptible[a.VJobs[i].Job.ID]; why != "" && kept == "" {
			kept = fmt.Sprintf("; vjob %s keeps its room: %s", a.VJobs[i].Job.ID, why)
			targets[i].Again = a.facts.Now.Add(imageRetry)
		}
	}
	for i := range targets {
		if r := &a.VJobs[i]; kept != "" && r.Job.State.Ready() && first[i].Target == queue.Run && targets[i].Target == queue.Wait && a.excluded[r.Job.ID] == "" {
			targets[i].Reason += kept
		}
	}
}

// scaleUnsavable keeps vjobs running with the CPU that their nodes have, if they would be
// suspended for lack of CPU and cannot be saved. Otherwise they would stay paused for ever or
// stop at every decision. It reports whether there are any.
func (a *attempt) scaleUnsavable(standing []queue.Verdict) (some bool) {
	for i, verdict := range standing {
		r := &a.VJobs[i]
		if verdict.Target == queue.Run || r.Job.State != cluster.Running || r.Job.Held || !a.needsImage(i, queue.Suspend) {
			continue
		}
		lack, books := a.facts.imageSpace().reserve(r), scaleNeeds(r, a.facts.Bookings, a.trial.current)
		if lack == "" || !books.overcommitted() {
			continue
		}
		for rank, m := range r.Record.Members {
			vm := r.Job.VMs[rank].ID
			if need := books.Need(vm); !m.Ended && need != a.trial.intended.Need(vm) {
				a.trial.setRunning(vm, need, m.Node)
				some = true
			}
		}
		a.nonPreemptible[r.Job.ID] = "it cannot be suspended: " + lack
	}
	return some
}

// imageRetry is how long after a shortage image space is checked again if nothing else happens.
const imageRetry = time.Minute
