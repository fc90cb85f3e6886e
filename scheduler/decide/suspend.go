package decide

import (
	"cmp"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
)

// Suspension selects where vjobs are suspended: on disk, or in memory, where they stay paused on
// their nodes, use no CPU and resume at once.
type Suspension uint8

// The ways to suspend. A paused vjob is saved to disk as soon as running vjobs need its memory.
const (
	ToDisk   Suspension = iota // always
	Auto                       // in memory when preempted, on disk when suspended by users
	InMemory                   // as long as the memory is not needed
)

var suspensions = map[string]Suspension{"disk": ToDisk, "auto": Auto, "memory": InMemory}

// ParseSuspension returns the suspension of that name in settings and commands. "" is the default
// of the policy: auto for short turns, where a switch must cost nothing, else disk, where images
// survive the crash of a node.
func ParseSuspension(name string, policy queue.Policy) (Suspension, error) {
	if name == "" && policy.Traits().Turns {
		return Auto, nil
	}
	way, known := suspensions[cmp.Or(name, "disk")]
	if !known {
		return ToDisk, cluster.BadField("suspend", name, "disk, auto or memory")
	}
	return way, nil
}

// choosePaused decides which suspended vjobs stay paused in memory, out of those being suspended
// and those already paused: as many as there is memory for beside the running vjobs. vjobs
// expected to resume first come first, then the queue order. It does not change targets.
func (a *attempt) choosePaused(targets []queue.Verdict) []queue.Verdict {
	return pausing{a, targets}.choose()
}

// pausing is one choice of the vjobs that stay in memory.
type pausing struct {
	*attempt
	targets []queue.Verdict
}

func (p pausing) choose() []queue.Verdict {
	targets := p.targets
	list, may := p.candidates()
	if len(list) == 0 || p.closed != "" {
		return targets
	}
	verdicts := slices.Clone(targets)
	var room *ctxswitch.Packing
	holds := func(cluster.VJobID) bool { return true }
	if may {
		room = p.packingOfRunning()
		holds = p.failover.besidePaused(room, targets)
	}
	for _, i := range list {
		job, v := p.VJobs[i].Job, &verdicts[i]
		may := p.mayPause(job)
		switch fits := may && room.TakePaused(job.ID) && holds(job.ID); {
		case fits && job.State == cluster.Running:
			v.Target = queue.Pause
			v.Reason += "; it stands still in memory"
		case !fits && job.State == cluster.Paused:
			v.Target = queue.Suspend
			if may {
				v.Reason += "; its memory is wanted, it goes to disk"
			}
		}
	}
	return verdicts
}

// candidates returns the vjobs that are being suspended, or are paused and could stay so, in
// the order in which they get memory. May reports whether any of them may stay in memory.
func (p pausing) candidates() (list []int, may bool) {
	for i := range p.VJobs {
		if p.suspendable(i, p.targets[i].Target) {
			list = append(list, i)
			may = may || p.mayPause(p.VJobs[i].Job)
		}
	}
	slices.SortStableFunc(list, func(k, l int) int {
		x, y := p.targets[k].Start, p.targets[l].Start
		if x.IsZero() != y.IsZero() { // vjobs without an expected start come last
			return y.Compare(x)
		}
		return x.Compare(y)
	})
	return list, may
}

// mayPause reports whether the settings let a suspended vjob stay in memory.
func (s *Settings) mayPause(job *cluster.VJob) bool {
	return s.Suspend == InMemory || s.Suspend == Auto && !job.Held
}

// suspendable reports whether a vjob is being suspended, or is paused and waits. A paused vjob that
// cannot resume in place is saved in any case.
func (a *attempt) suspendable(i int, target queue.Target) bool {
	r := &a.VJobs[i]
	if r.Busy() || a.excludes(r.Job.ID) {
		return false
	}
	return r.Job.State == cluster.Running && target == queue.Suspend && !queue.IsEnded(r.Job) ||
		r.Job.State == cluster.Paused && target == queue.Wait
}

// packingOfRunning returns a packing with all vjobs that run, should run, are on their way to run or
// to pause, or have a near reservation. Paused vjobs are added to it. Departing vjobs are left
// out, as for policies: their resources come back by themselves.
func (p pausing) packingOfRunning() *ctxswitch.Packing {
	packings := p.trial.packings()
	room := packings.empty(nil)
	var standing []cluster.VJobID
	lead := p.leads().Suspend
	for i := range p.VJobs {
		r := &p.VJobs[i]
		switch busy := r.Busy(); {
		case busy && r.Bound == cluster.VMPaused:
			standing = append(standing, r.Job.ID)
		case busy && r.Bound == cluster.VMRunning,
			!busy && p.targets[i].Target == queue.Run,
			!busy && !r.Job.Reservation.IsZero() && !p.facts.Now.Before(r.Job.Reservation.Add(-lead)),
			!busy && r.Job.State == cluster.Running && !p.suspendable(i, p.targets[i].Target):
			room.Take(r.Job.ID)
		}
	}
	for _, id := range standing {
		room.TakePaused(id)
	}
	return room
}

// planWithPausedSaved makes a plan with all paused vjobs saved to disk, and the verdicts for it: their
// places can block starting vjobs, not only their memory.
func (a *attempt) planWithPausedSaved(verdicts []queue.Verdict, no *ctxswitch.NoPlan) (plan ctxswitch.Plan, saved []queue.Verdict, ok bool) {
	saved = slices.Clone(verdicts)
	some := false
	for i, r := range a.VJobs {
		if r.Job.ID == no.VJob && r.Job.State == cluster.Paused {
			return plan, nil, false // it is the one to be saved
		}
		if a.suspendable(i, verdicts[i].Target) && r.Job.State == cluster.Paused || verdicts[i].Target == queue.Pause {
			saved[i].Target, some = queue.Suspend, some || verdicts[i].Target != queue.Suspend
		}
	}
	if !some {
		return plan, nil, false
	}
	if len(a.imageShortages(saved)) > 0 {
		return plan, nil, false
	}
	goals, _ := a.goals(saved)
	plan, err := a.makePlan(goals)
	if err != nil {
		return plan, nil, false
	}
	return plan, saved, true
}

// placeSuspended decides which suspended vjobs stay in memory. vjobs that cannot be saved stay
// where they are.
func (a *attempt) placeSuspended(targets []queue.Verdict) []queue.Verdict {
	verdicts := a.choosePaused(targets)
	lacks := a.imageShortages(verdicts)
	if len(lacks) == 0 {
		return verdicts
	}
	verdicts = slices.Clone(verdicts)
	for i, lack := range lacks {
		v := &verdicts[i]
		v.Target = queue.Run
		if a.VJobs[i].Job.State == cluster.Paused {
			v.Target = queue.Wait
		}
		v.Reason += "; it cannot be suspended to disk: " + lack
		if a.throttled[a.VJobs[i].Job.ID] {
			v.Reason += "; it gets next to no CPU until it can"
		}
		v.Again = a.facts.Now.Add(imageRetry)
	}
	return verdicts
}
