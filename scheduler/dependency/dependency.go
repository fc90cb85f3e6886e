package dependency

import (
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// of returns what a vjob waits for, "" if nothing, or that it can never be met, and why.
func (k *Tracker) of(job *cluster.VJob, vjobs VJobs, asked map[cluster.Dependency]status) (why string, never bool) {
	open := 0
	for _, d := range job.Dependencies() {
		a, known := asked[d]
		if !known { // all vjobs of an array ask the same
			a = k.dependency(d, vjobs)
			asked[d] = a
		}
		switch {
		case a.met:
		case !a.hope:
			return a.why, true
		default:
			if open++; why == "" {
				why = a.why
			}
		}
	}
	if open > 1 {
		why += fmt.Sprintf(", and for %d more", open-1)
	}
	return why, false
}

// wanted is the awaited event of each condition, and ended how a vjob has ended.
var (
	wanted = map[cluster.Condition]string{
		cluster.AfterOK: "to end well", cluster.AfterAny: "to end", cluster.AfterNotOK: "to end otherwise than well", cluster.AfterStart: "to start",
	}
	ended = map[cluster.Outcome]string{
		cluster.Completed: "has ended well", cluster.WalltimeExceeded: "ran over its walltime", cluster.Deleted: "was deleted", cluster.Broken: "has failed", cluster.Unsuccessful: "has failed",
	}
)

// howEnded continues "vjob 7": "has failed with exit status 3:0".
func howEnded(p journal.EndedVJob) string {
	if p.Outcome == cluster.Unsuccessful {
		return fmt.Sprintf("%s with exit status %s", ended[p.Outcome], p.Exit)
	}
	return ended[p.Outcome]
}

// status is the state of a dependency: met, still possible, or never met, with the reason.
type status struct {
	met, hope bool
	why       string
}

// dependency returns the state of a condition on a vjob or an array.
func (k *Tracker) dependency(d cluster.Dependency, vjobs VJobs) status {
	if d.Array {
		return k.dependencyOnArray(d, vjobs)
	}
	id := d.On
	p, over := k.past[id]
	for over && p.Again && (d.When != cluster.AfterStart || !p.Started) { // the next attempt counts in its place
		if p.Next == 0 {
			return status{hope: true, why: fmt.Sprintf("for the next attempt of vjob %s", id)}
		}
		id = p.Next
		p, over = k.past[id]
	}
	if over {
		met, _ := d.When.Met(cluster.Terminated, p.Started, p.Outcome)
		return status{met: met, why: fmt.Sprintf("vjob %s, for which it waits %s, %s", id, wanted[d.When], howEnded(p))}
	}
	a := status{hope: true, why: fmt.Sprintf("for vjob %s %s", id, wanted[d.When])}
	if r, live := vjobs.Job(id); live {
		a.met, _ = d.When.Met(r.Job.State, r.Began, r.Job.Outcome)
	}
	return a
}

// dependencyOnArray returns the state of a condition on all vjobs of an array. For afternotok one
// vjob that did not end well suffices, once all have ended.
func (k *Tracker) dependencyOnArray(d cluster.Dependency, vjobs VJobs) status {
	open, good, bad := 0, 0, cluster.VJobID(0)
	for id, p := range k.past {
		met, _ := d.When.Met(cluster.Terminated, p.Started, p.Outcome)
		switch {
		case p.Array != d.On || p.Again && p.Next != 0: // the next attempt is in the array as well
		case p.Again:
			open++
		case met:
			good++
		case bad == 0 || id < bad:
			bad = id
		}
	}
	for _, r := range vjobs.Members(d.On) {
		if met, _ := d.When.Met(r.Job.State, r.Began, r.Job.Outcome); met {
			good++
		} else {
			open++
		}
	}
	a := status{met: open == 0 && bad == 0, hope: bad == 0, why: fmt.Sprintf("for array %s %s", d.On, wanted[d.When])}
	if d.When == cluster.AfterNotOK {
		a.met, a.hope = open == 0 && good > 0, open > 0
	}
	if p, known := k.past[bad]; known && !a.met && !a.hope {
		a.why = fmt.Sprintf("vjob %s of array %s, for which it waits %s, %s", bad, d.On, wanted[d.When], howEnded(p))
	}
	return a
}
