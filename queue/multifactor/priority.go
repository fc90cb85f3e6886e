// Package multifactor puts vjobs in the order in which a policy looks at them: by one number,
// the priority, which is a sum of parts that people can be told.
//
// Priorities drift, and a vjob that loses its place may be suspended for it. So that no
// two change places for nothing, all is counted in whole numbers and all ages grow at
// the same instants by the same amount: the difference between two vjobs stays exactly
// what it is until one is as old as counts. What a user has used moves his factor only
// in leaps ([Hysteresis]), and those that run are ahead by a lead.
//
// It is pure. It refuses to know policies, and what is in a queue or a project.
package multifactor

import (
	"cmp"
	"time"

	"vjob/cluster"
)

// scale is what a factor of 1 counts as: factors are whole numbers of ten-thousandths.
const scale = 10_000

// Bounds of what is reckoned with, so that sums stay within 64 bits.
const (
	MostWeight   = 1_000_000
	MostPriority = 1_000_000 // of a user, either way; more counts as that
)

// Weights are the points that a factor of 1 gives, from 0 to [MostWeight] each.
type Weights struct {
	Age       int // for having waited as long as counts, [Rules.OldAge]
	Size      int // for being as small, or as large, as can be
	Queue     int // for being in the queue that comes first
	User      int // for each 1 of the priority that was submitted; it may be negative
	FairShare int // for having used nothing of late
	Deadline  int // for being at the deadline
}

// Rules say what counts how much.
type Rules struct {
	Weights
	OldAge     time.Duration // the age from which on nobody gets older; more than 0
	Horizon    time.Duration // how long before its deadline a vjob begins to be urgent; more than 0
	LargeFirst bool          // large vjobs get the points for size, else small ones
	// Lead is how many points vjobs that run are ahead: one that waits must come before
	// one that runs by more than that, before it takes its place.
	Lead int
}

// Check says which rule is wrong, if any.
func (r *Rules) Check() error {
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

// Job is what the priority of a vjob depends on. Factors are from 0 to 1.
type Job struct {
	ID        cluster.VJobID
	Submitted time.Time
	Priority  int       // as submitted
	Deadline  time.Time // zero: none
	Queue     float64   // 1 is the queue that comes first
	FairShare float64   // of its project and user; 1 is nothing used
	Size      float64   // the part of the cluster that it takes
	Runs      bool
}

// Priority is the place of a vjob, and why it has that.
type Priority struct {
	ID        cluster.VJobID
	submitted time.Time
	key       int64 // points times scale
	parts     parts // likewise, one for each of names
}

// Compare orders ranks: larger ones first, then who was submitted earlier, then by ID.
func (r *Priority) Compare(o *Priority) int {
	return cmp.Or(cmp.Compare(o.key, r.key), r.submitted.Compare(o.submitted), cmp.Compare(r.ID, o.ID))
}

// Of is the rank of a vjob at an instant.
func (r *Rules) Of(j *Job, now time.Time) Priority {
	return Priority{ID: j.ID, submitted: j.Submitted, key: r.key(j, now), parts: r.parts(j, now)}
}

// key is that of the rank, which is not made.
func (r *Rules) key(j *Job, now time.Time) (sum int64) {
	for _, p := range r.parts(j, now) {
		sum += p
	}
	return sum
}

func (r *Rules) parts(j *Job, now time.Time) parts {
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
		int64(r.User) * int64(min(max(j.Priority, -MostPriority), MostPriority)) * scale,
		int64(r.Age) * between(j.Submitted, now, r.OldAge),
		int64(r.FairShare) * factor(j.FairShare),
		int64(r.Size) * factor(size),
		int64(r.Deadline) * urgency(j.Deadline, now, r.Horizon),
		int64(r.Lead) * lead,
	}
}

// factor is a number from 0 to 1 on our scale; what is no number is 0.
func factor(f float64) int64 {
	if !(f > 0) {
		return 0
	}
	return int64(min(f, 1)*scale + 0.5)
}

// between is how much of a length of time lies between two instants. Both are counted in
// steps from one origin for all, so that what is between two vjobs never changes.
func between(from, to time.Time, length time.Duration) int64 {
	return min(max(steps(to, length)-steps(from, length), 0), scale)
}

func urgency(deadline, now time.Time, horizon time.Duration) int64 {
	if deadline.IsZero() || deadline.Sub(now) >= horizon {
		return 0
	}
	return scale - between(now, deadline, horizon)
}

// steps counts the ten-thousandths of a length of time from 1970 to an instant.
func steps(t time.Time, length time.Duration) int64 {
	step := int64(length / scale)
	n := t.UnixNano() / step
	if t.UnixNano()%step < 0 {
		n--
	}
	return n
}
