package decide

import (
	"cmp"
	"fmt"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
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
// expected to resume first come first, then the queue order. It does not change wished.
func (p *View) choosePaused(wished []queue.Verdict) []queue.Verdict {
	list, may := p.pauseCandidates(wished)
	if len(list) == 0 || p.closed != "" {
		return wished
	}
	verdicts := slices.Clone(wished)
	var room *ctxswitch.Packing
	if may {
		room = p.packingOfRunning(wished)
	}
	for _, i := range list {
		job, v := p.VJobs[i].Job, &verdicts[i]
		may := p.mayPause(job)
		switch fits := may && room.TakePaused(job.ID); {
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

// pauseCandidates returns the vjobs that are being suspended, or are paused and could stay so, in
// the order in which they get memory. May reports whether any of them may stay in memory.
func (p *View) pauseCandidates(wished []queue.Verdict) (list []int, may bool) {
	for i := range p.VJobs {
		if p.suspendable(i, wished[i].Target) {
			list = append(list, i)
			may = may || p.mayPause(p.VJobs[i].Job)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int {
		x, y := wished[a].Start, wished[b].Start
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
func (p *View) suspendable(i int, wish queue.Target) bool {
	r := &p.VJobs[i]
	if !r.Idle || r.Blind || p.ineligible[r.Job.ID] != "" || p.quarantined[r.Job.ID] != "" {
		return false
	}
	return r.Job.State == cluster.Running && wish == queue.Suspend && !queue.IsEnded(r.Job) ||
		r.Job.State == cluster.Paused && wish == queue.Wait
}

// unblockPaused makes vjobs that are not in memory ineligible while a paused vjob could not be
// saved for them, as when image space is missing. Without them the paused vjob can resume and end;
// otherwise all would wait for ever. It holds for one decision: until the next attempt to save it
// the others come first again.
func (p *View) unblockPaused() {
	stuck := slices.IndexFunc(p.VJobs, func(r execute.Report) bool {
		return r.Job.State == cluster.Paused && r.Failures > 0 && !r.Job.Held && r.Idle && !r.Blind && p.ineligible[r.Job.ID] == ""
	})
	if stuck < 0 {
		return
	}
	p.deferOthers(fmt.Sprintf("vjob %s, which stands still in memory, could not be saved and goes on first", p.VJobs[stuck].Job.ID))
}

// deferOthers makes the vjobs ineligible that are not in memory.
func (p *View) deferOthers(why string) {
	for i := range p.VJobs {
		job := p.VJobs[i].Job
		if job.State.Ready() && job.State != cluster.Paused && p.ineligible[job.ID] == "" {
			p.ineligible[job.ID] = why
		}
	}
}

// packingOfRunning returns a packing with all vjobs that run, should run, are on their way to run or
// to pause, or have a near reservation. Paused vjobs are added to it. Departing vjobs are left
// out, as for policies: their resources come back by themselves.
func (p *View) packingOfRunning(wished []queue.Verdict) *ctxswitch.Packing {
	room := ctxswitch.NewPacking(ctxswitch.PackingInput{
		Current: p.intended, Applicants: ctxswitch.NewApplicantQueue(p.applicants), Rules: p.rules, Avoid: p.avoid, Pinned: p.immovable,
		Needs: needs(p.intended),
	})
	var standing []cluster.VJobID
	lead := p.leads().Suspend
	for i := range p.VJobs {
		r := &p.VJobs[i]
		switch busy := !r.Idle || r.Blind; {
		case busy && r.Bound == cluster.VMPaused:
			standing = append(standing, r.Job.ID)
		case busy && r.Bound == cluster.VMRunning,
			!busy && wished[i].Target == queue.Run,
			!busy && !r.Job.Reservation.IsZero() && !p.now.Before(r.Job.Reservation.Add(-lead)),
			!busy && r.Job.State == cluster.Running && !p.suspendable(i, wished[i].Target):
			room.Take(r.Job.ID)
		}
	}
	for _, id := range standing {
		room.TakePaused(id)
	}
	return room
}

// planWithPausedSaved makes a plan with all paused vjobs saved to disk: their places can block
// starting vjobs, not only their memory. It changes the verdicts only if there is such a plan.
func (p *View) planWithPausedSaved(verdicts []queue.Verdict, no *ctxswitch.NoPlan) (plan ctxswitch.Plan, ok bool) {
	saved, some := slices.Clone(verdicts), false
	for i, r := range p.VJobs {
		if r.Job.ID == no.VJob && r.Job.State == cluster.Paused {
			return plan, false // it is the one to be saved
		}
		if p.suspendable(i, verdicts[i].Target) && r.Job.State == cluster.Paused || verdicts[i].Target == queue.Pause {
			saved[i].Target, some = queue.Suspend, some || verdicts[i].Target != queue.Suspend
		}
	}
	if !some {
		return plan, false
	}
	if len(p.imageShortages(saved)) > 0 {
		return plan, false
	}
	goals, _ := p.goals(saved)
	plan, err := p.plan(goals)
	if err != nil {
		return plan, false
	}
	copy(verdicts, saved)
	return plan, true
}
