// Package multifactor computes the priority of vjobs, a weighted sum of factors as in Slurm's multifactor
// plugin, and sorts vjobs by it.
//
// A vjob that loses its place may be suspended for it, so priorities must not oscillate. All is counted in
// whole numbers, and all ages grow at the same instants by the same amount: the difference between two
// vjobs stays exactly the same until one has the full age. Use moves a fair-share factor only in steps
// ([Hysteresis]), and running vjobs have a lead.
package multifactor

import (
	"cmp"
	"time"

	"vjob/cluster"
)

// scale is the number for a factor of 1: factors are whole ten-thousandths.
const scale = 10_000

// Bounds that keep sums within 64 bits.
const (
	MostWeight  = 1_000_000
	maxPriority = 1_000_000 // submitted, positive or negative; clamped
)

// Weights are the points for a factor of 1, from 0 to [MostWeight] each.
type Weights struct {
	Age       int // for having waited for [Settings.OldAge]
	Size      int // for the smallest, or the largest, size
	Queue     int // for the queue with the largest priority
	User      int // for each 1 of the submitted priority, which may be negative
	FairShare int // for no recent use
	Deadline  int // for being at the deadline
}

// Settings are the weights and what the factors depend on.
type Settings struct {
	Weights
	OldAge     time.Duration // the age that gets all points; more than 0
	Horizon    time.Duration // how long before its deadline a vjob starts to gain points; more than 0
	LargeFirst bool          // large vjobs get the points for size, otherwise small ones
	// Lead is the points of running vjobs: a waiting one must exceed a running one by more to take its place.
	Lead int
}

// Check returns an error that names the first invalid setting.
func (r *Settings) Check() error {
	for _, w := range []struct {
		field string
		value int
	}{
		{"age", r.Age},
		{"size", r.Size},
		{"queue", r.Queue},
		{"user", r.User},
		{"fair_share", r.FairShare},
		{"deadline", r.Deadline},
		{"lead", r.Lead},
	} {
		if w.value < 0 || w.value > MostWeight {
			return cluster.BadField(w.field, w.value, "points from 0 to 1000000")
		}
	}
	// Shorter times would be counted in steps of less than a nanosecond.
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"old_age", r.OldAge}, {"horizon", r.Horizon}} {
		if d.value < time.Second {
			return cluster.BadField(d.field, d.value, `at least 1s, such as "7d"`)
		}
	}
	return nil
}

// Factors are what the priority of a vjob depends on. Those without a unit are from 0 to 1.
type Factors struct {
	ID        cluster.VJobID
	Submitted time.Time
	Priority  int       // as submitted
	Deadline  time.Time // zero: none
	Queue     float64   // 1 is the queue with the largest priority
	FairShare float64   // of its project and user; 1 for no use
	Size      float64   // share of the cluster
	Runs      bool
}

// Priority is the priority of a vjob with its parts.
type Priority struct {
	ID        cluster.VJobID
	submitted time.Time
	key       int64 // points times scale
	parts     parts // points times scale, one for each of names
}

// Compare orders priorities: larger ones first, then earlier submissions, then by ID.
func (r *Priority) Compare(o *Priority) int {
	return cmp.Or(cmp.Compare(o.key, r.key), r.submitted.Compare(o.submitted), cmp.Compare(r.ID, o.ID))
}

// Priority returns the priority of a vjob at an instant.
func (r *Settings) Priority(j *Factors, now time.Time) Priority {
	return Priority{ID: j.ID, submitted: j.Submitted, key: r.key(j, now), parts: r.parts(j, now)}
}

// key returns the sum of the parts.
func (r *Settings) key(j *Factors, now time.Time) (sum int64) {
	for _, p := range r.parts(j, now) {
		sum += p
	}
	return sum
}

func (r *Settings) parts(j *Factors, now time.Time) parts {
	size := j.Size
	if !r.LargeFirst {
		size = 1 - size
	}
	lead := int64(0)
	if j.Runs {
		lead = scale
	}
	return parts{
		int64(r.Queue) * factor(j.Queue),
		int64(r.User) * int64(min(max(j.Priority, -maxPriority), maxPriority)) * scale,
		int64(r.Age) * between(j.Submitted, now, r.OldAge),
		int64(r.FairShare) * factor(j.FairShare),
		int64(r.Size) * factor(size),
		int64(r.Deadline) * urgency(j.Deadline, now, r.Horizon),
		int64(r.Lead) * lead,
	}
}

// factor scales a number from 0 to 1; NaN is 0.
func factor(f float64) int64 {
	if !(f > 0) {
		return 0
	}
	return int64(min(f, 1)*scale + 0.5)
}

// between returns how much of a length of time lies between two instants. Steps of all vjobs have the same
// origin, so that the difference of two vjobs never changes.
func between(from, to time.Time, length time.Duration) int64 {
	return min(max(steps(to, length)-steps(from, length), 0), scale)
}

func urgency(deadline, now time.Time, horizon time.Duration) int64 {
	if deadline.IsZero() || deadline.Sub(now) >= horizon {
		return 0
	}
	return scale - between(now, deadline, horizon)
}

// steps returns the ten-thousandths of a length of time from 1970 to an instant.
func steps(t time.Time, length time.Duration) int64 {
	step := int64(length / scale)
	n := t.UnixNano() / step
	if t.UnixNano()%step < 0 {
		n--
	}
	return n
}
