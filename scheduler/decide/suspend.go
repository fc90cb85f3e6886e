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

// Suspension says where vjobs are suspended to: to disk, or in memory, where they stand
// still on their nodes, use no CPU, and go on at once.
type Suspension uint8

// The ways to suspend. What stands still is saved to disk from where it stands as soon
// as those that run want its memory.
const (
	ToDisk   Suspension = iota // everybody
	Auto                       // who makes room for others in memory, whom people suspend to disk
	InMemory                   // everybody as long as the memory is not wanted
)

var suspensions = map[string]Suspension{"disk": ToDisk, "auto": Auto, "memory": InMemory}

// SuspensionNamed is the way to suspend that settings and commands call so. "" is what
// suits the policy: turns that are short want a switch that costs nothing, the others
// keep what they suspend where no crash of a node can reach it.
func SuspensionNamed(name string, policy queue.Policy) (Suspension, error) {
	if name == "" && policy.Traits().Turns {
		return Auto, nil
	}
	way, known := suspensions[cmp.Or(name, "disk")]
	if !known {
		return ToDisk, cluster.BadField("suspend", name, "disk, auto or memory")
	}
	return way, nil
}

// choosePaused settles who stands still in memory: of those that make room, and of those that
// stand already, as many as there is memory for beside those that run. Whoever is
// expected to go on first comes first, then the order of priority. What was wished is
// not changed.
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
		switch fits := may && room.Stand(job.ID); {
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

// pauseCandidates are those that are to be suspended, and those that stand still and could go on
// standing, in the order in which they are looked at; may tells whether any of them may
// stand.
func (p *View) pauseCandidates(wished []queue.Verdict) (list []int, may bool) {
	for i := range p.VJobs {
		if p.suspendable(i, wished[i].Target) {
			list = append(list, i)
			may = may || p.mayPause(p.VJobs[i].Job)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int {
		x, y := wished[a].Start, wished[b].Start
		if x.IsZero() != y.IsZero() { // who is not expected comes last
			return y.Compare(x)
		}
		return x.Compare(y)
	})
	return list, may
}

// mayPause reports whether the settings let a vjob stand still that is suspended.
func (s *Settings) mayPause(job *cluster.VJob) bool {
	return s.Suspend == InMemory || s.Suspend == Auto && !job.Held
}

// suspendable reports whether a vjob that nothing keeps from it is to be suspended, or
// stands still and waits. What stands still and cannot go on there is saved in any case.
func (p *View) suspendable(i int, wish queue.Target) bool {
	r := &p.VJobs[i]
	if !r.Idle || r.Blind || p.ineligible[r.Job.ID] != "" || p.quarantined[r.Job.ID] != "" {
		return false
	}
	return r.Job.State == cluster.Running && wish == queue.Suspend && !queue.IsEnded(r.Job) ||
		r.Job.State == cluster.Paused && wish == queue.Wait
}

// unblockPaused bars those from starting that are not in memory, where somebody stands still who
// could not be saved for them, as when there is no space for images. Without them he may
// go on, and be done; else everybody would wait for ever. It is for one decision: until
// the next try to save him the others come first again.
func (p *View) unblockPaused() {
	stuck := slices.IndexFunc(p.VJobs, func(r execute.Report) bool {
		return r.Job.State == cluster.Paused && r.Failures > 0 && !r.Job.Held && r.Idle && !r.Blind && p.ineligible[r.Job.ID] == ""
	})
	if stuck < 0 {
		return
	}
	p.deferOthers(fmt.Sprintf("vjob %s, which stands still in memory, could not be saved and goes on first", p.VJobs[stuck].Job.ID))
}

// deferOthers bars those from starting that are not in memory, and says why.
func (p *View) deferOthers(why string) {
	for i := range p.VJobs {
		job := p.VJobs[i].Job
		if job.State.Ready() && job.State != cluster.Paused && p.ineligible[job.ID] == "" {
			p.ineligible[job.ID] = why
		}
	}
}

// packingOfRunning is a room with all that run, are to, are on their way to run or to stand still,
// or have a reservation that is near. To it those are added that stand still. As for
// policies, those that are on their way out have left: their room comes back by itself,
// and nobody is saved for it.
func (p *View) packingOfRunning(wished []queue.Verdict) *ctxswitch.Packing {
	room := ctxswitch.NewPacking(ctxswitch.Stock{
		Current: p.intended, Line: ctxswitch.NewLine(p.applicants), Rules: p.rules, Avoid: p.avoid, Pinned: p.immovable,
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
		room.Stand(id)
	}
	return room
}

// planWithPausedSaved is the plan with all who stand still, or are to, saved to disk: they can be
// in the way of those that start by where they stand, not only by their memory. The
// verdicts are changed only if there is such a plan.
func (p *View) planWithPausedSaved(verdicts []queue.Verdict, no *ctxswitch.NoPlan) (plan ctxswitch.Plan, ok bool) {
	saved, some := slices.Clone(verdicts), false
	for i, r := range p.VJobs {
		if r.Job.ID == no.VJob && r.Job.State == cluster.Paused {
			return plan, false // it cannot go on where it stands: it is the one to be saved
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
