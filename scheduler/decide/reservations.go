package decide

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
	"vjob/scheduler/supply"
)

// Selection checks starting vjobs against reservations as if all VMs could move before the
// reservations begin. Containers and VMs under the rule root cannot. So a plan that starts vjobs
// is checked against the reservations again, with the places that it gives.

// breaksReservation reports whether a plan starts a vjob where a reservation would later lack
// places. The next plan tries another place, and if that fails the vjob waits.
func (s *planning) breaksReservation(target *cluster.Configuration) bool {
	starters := slices.DeleteFunc(s.starters(), func(i int) bool { return !s.mayBeImmovable(i) })
	if len(starters) == 0 {
		return false
	}
	for _, e := range s.upcomingReservations() {
		then := &futureView{attempt: s.attempt, targets: s.targets, target: target, at: s.VJobs[e].Job.Reservation, starters: starters}
		again := false
		for _, i := range then.conflicting() {
			again = s.relocate(i, then) || again
		}
		if again {
			return true
		}
	}
	return false
}

// mayBeImmovable reports whether a vjob keeps its resources once started and may be bound to its
// nodes, as a container is and as rules can require.
func (a *attempt) mayBeImmovable(i int) bool {
	job := a.VJobs[i].Job
	return (job.Container || len(a.trial.rules) > 0) && a.settings.keepsUntilEnd(job)
}

// upcomingReservations returns the vjobs with future reservations, the next ones first.
func (v *View) upcomingReservations() (list []int) {
	for i := range v.VJobs {
		job := v.VJobs[i].Job
		if job.State.Ready() && job.Reservation.After(v.facts.Now) && v.quarantined[job.ID] == "" {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return v.VJobs[a].Job.Reservation.Compare(v.VJobs[b].Job.Reservation) })
	return list[:min(len(list), supply.MaxChanges)]
}

// futureView is the cluster at an instant after a plan.
type futureView struct {
	*attempt
	targets  []queue.Verdict
	target   *cluster.Configuration
	at       time.Time
	starters []int
}

// conflicting returns the starting vjobs that would still run and leave the reservations no
// places, given where the plan puts all VMs. It returns none if places are missing without them
// as well.
func (s *futureView) conflicting() (list []int) {
	then := slices.DeleteFunc(slices.Clone(s.starters), func(i int) bool {
		job := s.VJobs[i].Job
		return job.Walltime > 0 && !s.at.Before(s.facts.Now.Add(job.Walltime-s.VJobs[i].Ran))
	})
	if len(then) == 0 || s.fits(then) || !s.fits(nil) {
		return nil
	}
	var among []int
	for _, i := range then {
		if s.fits(append(slices.Clip(among), i)) {
			among = append(among, i)
		} else {
			list = append(list, i)
		}
	}
	return list
}

// fits reports whether the reservations of the instant find places beside the vjobs that run on
// until then and some of those that start.
func (s *futureView) fits(some []int) bool {
	_, fits := s.pack(some)
	return fits
}

// pack returns a packing with all of them, as far as they have places.
func (s *futureView) pack(some []int) (room *ctxswitch.Packing, fits bool) {
	room, fits = s.emptyPacking(some), true
	for i := range s.VJobs {
		r := &s.VJobs[i]
		goesOn := s.targets[i].Target == queue.Run && s.settings.keepsUntilEnd(r.Job) && s.facts.runsAt(r, s.at) && !slices.Contains(s.starters, i)
		if goesOn || slices.Contains(some, i) {
			room.Take(r.Job.ID)
		}
	}
	for i := range s.VJobs {
		if r := &s.VJobs[i]; r.Job.State.Ready() && !r.Job.Reservation.IsZero() && s.facts.runsAt(r, s.at) && !slices.Contains(s.starters, i) {
			ok, _ := room.Take(r.Job.ID)
			fits = fits && ok
		}
	}
	return room, fits
}

// emptyPacking returns an empty packing of the cluster after the plan, in which started
// containers are pinned.
func (s *futureView) emptyPacking(some []int) *ctxswitch.Packing {
	line := slices.DeleteFunc(slices.Clone(s.trial.applicants), func(a ctxswitch.Applicant) bool {
		_, known := s.target.State(cluster.VMID{VJob: a.VJob})
		return known
	})
	pinned := maps.Clone(s.trial.immovable)
	for _, i := range some {
		for k := range s.VJobs[i].Job.VMs {
			if s.VJobs[i].Job.Container {
				pinned[s.VJobs[i].Job.VMs[k].ID] = true
			}
		}
	}
	return ctxswitch.NewPacking(ctxswitch.PackingInput{
		Current: s.target, Nodes: s.trial.nodes, Applicants: ctxswitch.NewApplicantQueue(line), Rules: s.trial.rules, Avoid: s.trial.avoid,
		Incompatible: s.trial.incompatible, Pinned: pinned,
		Feeds: s.supply.FeedsAt(s.trial.intended.Nodes(), s.at, false, s.jobs()),
	})
}

// relocate makes a starting vjob that conflicts with a reservation start elsewhere; if that was
// tried, the vjob waits. A vjob with a reservation of its own starts all the same. It reports
// whether to make another plan.
func (s *planning) relocate(i int, then *futureView) (again bool) {
	job := s.VJobs[i].Job
	if !s.relocated[i] {
		s.relocated[i] = true
		then.restrictNodes(i)
		return true
	}
	if job.Reservation.IsZero() {
		s.refuse(i, &ctxswitch.NoPlan{VJob: job.ID, Reason: fmt.Sprintf(
			"where there is room, it would be in the way of a reservation at %s, and could not be moved", cluster.Clock(then.at, s.facts.Now))})
	}
	return job.Reservation.IsZero()
}

// restrictNodes keeps a starting vjob off all nodes except places found beside the reservations
// of the instant, if there are any.
func (s *futureView) restrictNodes(i int) {
	job, target := s.VJobs[i].Job, s.target.Clone()
	for k := range job.VMs {
		if vm := job.VMs[k].ID; target.Place(vm) != "" {
			target.SetWaiting(vm, target.Need(vm))
		}
	}
	apart := *s
	apart.target = target
	room, fits := apart.pack(nil)
	if ok, _ := room.Take(job.ID); !ok || !fits {
		return
	}
	for rank, at := range room.Places(job.ID) {
		s.trial.keepOff(job.VMs[rank].ID, s.Nodes(), at)
	}
}
