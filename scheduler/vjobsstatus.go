package scheduler

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/tidwall/btree"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/queue"
	"vjob/queue/multifactor"
	"vjob/queue/ordering"
	"vjob/queue/pool"
	"vjob/scheduler/entitlement"
)

// VJobsStatus is the status of all live vjobs at one instant. It never changes.
type VJobsStatus interface {
	Len() int
	// Get returns the status of a vjob; false if it is not live.
	Get(id cluster.VJobID) (VJobStatus, bool)
	// All returns the status of all vjobs, in order of their numbers.
	All() iter.Seq2[cluster.VJobID, VJobStatus]
	// Rank returns the place of a vjob in the order in which vjobs are looked at; the zero value for one that is not live.
	Rank(id cluster.VJobID) multifactor.Priority
	// Untouched returns a vjob with which nothing was ever done, or nil: all there is to know of it is in it.
	Untouched(id cluster.VJobID) *cluster.VJob
	// asOf returns the status at a later instant, if nothing happens but that time passes.
	asOf(now time.Time) VJobsStatus
}

// Statuses is a status of vjobs that is given.
type Statuses map[cluster.VJobID]VJobStatus

// Len returns the number of vjobs.
func (s Statuses) Len() int { return len(s) }

// Get returns the status of a vjob.
func (s Statuses) Get(id cluster.VJobID) (VJobStatus, bool) {
	status, ok := s[id]
	return status, ok
}

// All returns the status of all vjobs, in order of their numbers.
func (s Statuses) All() iter.Seq2[cluster.VJobID, VJobStatus] {
	return func(yield func(cluster.VJobID, VJobStatus) bool) {
		for _, id := range slices.Sorted(maps.Keys(s)) {
			if !yield(id, s[id]) {
				return
			}
		}
	}
}

// Rank returns the zero value.
func (Statuses) Rank(cluster.VJobID) multifactor.Priority { return multifactor.Priority{} }

// Untouched returns nil.
func (Statuses) Untouched(cluster.VJobID) *cluster.VJob { return nil }

func (s Statuses) asOf(time.Time) VJobsStatus { return s }

// vjobsStatus is the status of vjobs as the loop has it. It shares with earlier versions what has not changed, and a
// status is put together when it is read, so that one costs the same however many vjobs there are.
type vjobsStatus struct {
	live     execute.Live
	ranks    ordering.Ranks
	settings *ordering.Settings
	pools    *pool.Hierarchy
	verdicts *btree.Map[cluster.VJobID, *queue.Verdict] // of the last decision
	places   *places
	division *entitlement.Division // nil if the cluster is not divided
}

func (s *vjobsStatus) asOf(now time.Time) VJobsStatus {
	later := *s
	later.live = s.live.AsOf(now)
	return &later
}

// Len returns the number of vjobs.
func (s *vjobsStatus) Len() int { return s.live.Len() }

// Get returns the status of a vjob.
func (s *vjobsStatus) Get(id cluster.VJobID) (VJobStatus, bool) {
	r, live := s.live.Get(id)
	if !live {
		return VJobStatus{}, false
	}
	return s.status(&r), true
}

// All returns the status of all vjobs, in order of their numbers.
func (s *vjobsStatus) All() iter.Seq2[cluster.VJobID, VJobStatus] {
	return func(yield func(cluster.VJobID, VJobStatus) bool) {
		for r := range s.live.All() {
			if !yield(r.Job.ID, s.status(&r)) {
				return
			}
		}
	}
}

// Untouched returns a vjob with which nothing was ever done, or nil.
func (s *vjobsStatus) Untouched(id cluster.VJobID) *cluster.VJob { return s.live.Untouched(id) }

// Rank returns the place of a vjob in the order in which vjobs are looked at.
func (s *vjobsStatus) Rank(id cluster.VJobID) multifactor.Priority {
	r, live := s.live.Get(id)
	if !live {
		return multifactor.Priority{}
	}
	return s.ranks.Priority(r.Job, r.Bound == cluster.VMRunning)
}

func (s *vjobsStatus) status(r *execute.Report) VJobStatus {
	ready := r.Job.State.Ready()
	status := VJobStatus{
		Owner: r.Job.Owner, State: r.Job.State, Held: r.Job.Held, Gang: *r.Record, Ran: r.Ran, Crowded: r.Crowded, Cause: r.Job.Cause, Watts: r.Watts,
		Promised: r.Promised != 0 && ready, Refusals: r.Refusals, Used: r.Used,
		Queue: s.ranks.Queue(r.Job), Pool: poolOf(s.settings, r.Job, s.pools), Entitled: entitled(s.division, r.Job),
	}
	v, decided := s.verdicts.Get(r.Job.ID)
	switch {
	case r.Blind && r.Wait != "":
		status.Reason = r.Wait
	case status.Promised:
		status.Reason = fmt.Sprintf("context switch %d makes room for it", r.Promised)
	case !r.Job.State.Stable():
		status.Reason = r.Wait
	case decided && v.Reason != "" && (ready || v.Target == queue.Run):
		status.Reason = v.Reason
	}
	if decided && ready && v.Target == queue.Wait {
		status.Start = v.Start
	}
	if ready {
		status.Place = s.places.of(r.Job.ID)
	}
	return status
}
