package decide

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
)

// Whoever starts was held against the reservations as if all could be moved until they
// begin. Some may not, as containers and whom the rule root names: of them it counts where
// the plan puts them. So a plan that starts somebody is held against the reservations again.

// maxReservations is how many reservations are looked at: each look packs the whole cluster.
const maxReservations = 32

// breaksReservation reports whether a plan has somebody start where a reservation would lack places
// later. Another place is looked for then, and if that leads nowhere he waits.
func (p *View) breaksReservation(s *retryFilter, target *cluster.Configuration) bool {
	starters := slices.DeleteFunc(s.starters(), func(i int) bool { return !p.mayBeImmovable(i) })
	if len(starters) == 0 {
		return false
	}
	for _, e := range p.upcomingReservations() {
		then := &futureView{View: p, wished: s.wished, target: target, at: p.VJobs[e].Job.Reservation, starters: starters}
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

// mayBeImmovable reports whether a vjob keeps its room once it has started, and may have to stay
// where it is: a container does, and others where rules say so.
func (p *View) mayBeImmovable(i int) bool {
	job := p.VJobs[i].Job
	return (job.Container || len(p.rules) > 0) && p.keepsUntilEnd(job)
}

// keepsUntilEnd reports whether a vjob that runs keeps its room until its end, whoever comes.
func (p *View) keepsUntilEnd(job *cluster.VJob) bool {
	return !job.Reservation.IsZero() || p.settings.Keeps(job)
}

// upcomingReservations are the vjobs with reservations to come, the next ones first.
func (p *View) upcomingReservations() (list []int) {
	for i := range p.VJobs {
		job := p.VJobs[i].Job
		if job.State.Ready() && job.Reservation.After(p.now) && p.quarantined[job.ID] == "" {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return p.VJobs[a].Job.Reservation.Compare(p.VJobs[b].Job.Reservation) })
	return list[:min(len(list), maxReservations)]
}

// futureView is the cluster at an instant, as a plan leaves it.
type futureView struct {
	*View
	wished   []queue.Verdict
	target   *cluster.Configuration
	at       time.Time
	starters []int
}

// conflicting are those that start, and run until then, beside whom the reservations would find
// no places, from where the plan puts all that run. Where places are missing without them as
// well, nobody is.
func (s *futureView) conflicting() (list []int) {
	then := slices.DeleteFunc(slices.Clone(s.starters), func(i int) bool {
		job := s.VJobs[i].Job
		return job.Walltime > 0 && !s.at.Before(s.now.Add(job.Walltime-s.VJobs[i].Ran))
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

// fits reports whether the reservations of the instant find places beside those that run on
// until then, and some of those that start.
func (s *futureView) fits(some []int) bool {
	_, fits := s.pack(some)
	return fits
}

// pack is the room with all of them in it, as far as they have places.
func (s *futureView) pack(some []int) (room *ctxswitch.Packing, fits bool) {
	room, fits = s.emptyPacking(some), true
	for i := range s.VJobs {
		r := &s.VJobs[i]
		goesOn := s.wished[i].Target == queue.Run && s.keepsUntilEnd(r.Job) && s.runsAt(r, s.at) && !slices.Contains(s.starters, i)
		if goesOn || slices.Contains(some, i) {
			room.Take(r.Job.ID)
		}
	}
	for i := range s.VJobs {
		if r := &s.VJobs[i]; r.Job.State.Ready() && !r.Job.Reservation.IsZero() && s.runsAt(r, s.at) && !slices.Contains(s.starters, i) {
			ok, _ := room.Take(r.Job.ID)
			fits = fits && ok
		}
	}
	return room, fits
}

// emptyPacking is an empty room of the cluster as the plan leaves it, where containers stay that have
// started.
func (s *futureView) emptyPacking(some []int) *ctxswitch.Packing {
	line := slices.DeleteFunc(slices.Clone(s.applicants), func(a ctxswitch.Applicant) bool {
		_, known := s.target.State(cluster.VMID{VJob: a.VJob})
		return known
	})
	pinned := maps.Clone(s.immovable)
	for _, i := range some {
		for k := range s.VJobs[i].Job.VMs {
			if s.VJobs[i].Job.Container {
				pinned[s.VJobs[i].Job.VMs[k].ID] = true
			}
		}
	}
	return ctxswitch.NewPacking(ctxswitch.Stock{
		Current: s.target, Line: ctxswitch.NewLine(line), Rules: s.rules, Avoid: s.avoid, Pinned: pinned, Needs: needs(s.target),
		Feeds: s.feedsAhead(s.at, false),
	})
}

// relocate has a vjob that is to start, and would be in the way of a reservation, come where
// it is not; and if that leads nowhere, it waits. One that has itself a reservation starts
// even so. It reports whether another plan is to be looked for.
func (s *retryFilter) relocate(i int, then *futureView) (again bool) {
	job := s.VJobs[i].Job
	if !s.relocated[i] {
		s.relocated[i] = true
		then.restrictNodes(i)
		return true
	}
	if job.Reservation.IsZero() {
		s.refuse(i, &ctxswitch.NoPlan{VJob: job.ID, Reason: fmt.Sprintf(
			"where there is room, it would be in the way of a reservation at %s, and could not be moved", cluster.Clock(then.at, s.now))})
	}
	return job.Reservation.IsZero()
}

// restrictNodes keeps a vjob that is to start off all nodes but those where there are places for it
// beside the reservations of the instant, if there are any.
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
		vm := job.VMs[rank].ID
		for _, n := range s.current.Nodes() {
			if n.ID != at {
				s.avoid[vm] = append(slices.Clip(s.avoid[vm]), n.ID)
			}
		}
	}
}
