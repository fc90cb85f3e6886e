package quota

import (
	"maps"
	"math"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/queue"
)

// Job is a vjob as quotas see it; its user, project and queue are names.
type Job struct {
	ID          cluster.VJobID
	Association Association
	VMs         int
	Need        cluster.Resources // as reserved, so that it does not drift
	// Left is the rest of its walltime, if it has one. A vjob without walltime counts as if it ran for the
	// whole period in which CPU time is counted.
	Left time.Duration
	Ends bool
}

// need returns what the vjob counts for, with CPU time within a period.
func (j *Job) need(within time.Duration) amount {
	a := amount{VMs: int64(j.VMs), CPU: int64(j.Need.CPU), Memory: int64(j.Need.Memory)}
	length := within
	if j.Ends {
		length = min(j.Left, within)
	}
	a[CPUTime] = int64(math.Min(float64(j.Need.CPU)*length.Seconds(), math.MaxInt64/4))
	return a
}

// History is earlier use, such as a [Ledger].
type History interface {
	// CPUTime returns the use of a group since an instant, in milliseconds.
	CPUTime(group Association, since time.Time) int64
	// Hours returns the hours of that use, in order.
	Hours(group Association, since time.Time) []Hour
}

// Tally counts use at one instant. It belongs to one goroutine.
type Tally struct {
	book     *Book
	now      time.Time
	past     History
	counters []counter
	index    map[key]int
	of       map[Association][]int // counters that apply
	counted  map[cluster.VJobID]bool
}

type key struct {
	quota int
	group Association
}

// counter is the use of one quota by one group.
type counter struct {
	key
	title  string // of the quota, with its window and the group
	limits Limits
	used   amount
	before int64  // used[CPUTime] without running vjobs
	frees  string // what expires next, in words; valid if looked
	looked bool
}

// Tally returns an empty tally; past may be nil.
func (b *Book) Tally(now time.Time, past History) *Tally {
	return &Tally{book: b, now: now, past: past, index: map[key]int{}, of: map[Association][]int{}, counted: map[cluster.VJobID]bool{}}
}

// clone returns an independent copy.
func (t *Tally) clone() *Tally {
	c := *t
	c.counters, c.index, c.of = slices.Clone(t.counters), maps.Clone(t.index), maps.Clone(t.of)
	c.counted = maps.Clone(t.counted)
	return &c
}

// countersOf returns the counters that apply.
func (t *Tally) countersOf(w Association) []int {
	if list, known := t.of[w]; known {
		return list
	}
	list := []int{}
	for _, i := range t.book.matching(w) {
		group, _ := t.book.quotas[i].group(w)
		list = append(list, t.counter(key{i, group}))
	}
	t.of[w] = list
	return list
}

func (t *Tally) counter(k key) int {
	if i, known := t.index[k]; known {
		return i
	}
	q := &t.book.quotas[k.quota]
	c := counter{key: k}
	limits, window := q.Limits.At(t.now)
	c.limits, c.title = limits, title(q.Name, window, k.group)
	if q.Within > 0 && t.past != nil {
		c.before = t.past.CPUTime(k.group, t.now.Add(-q.Within))
		c.used[CPUTime] = c.before
	}
	t.index[k] = len(t.counters)
	t.counters = append(t.counters, c)
	return t.index[k]
}

// Count adds a vjob that runs or is under way to, whatever the limits; a second time it is ignored.
func (t *Tally) Count(j *Job) {
	if t.counted[j.ID] {
		return
	}
	t.counted[j.ID] = true
	for _, i := range t.countersOf(j.Association) {
		c := &t.counters[i]
		for m, n := range j.need(t.book.quotas[c.quota].Within) {
			c.used[m] += n
		}
	}
}

// Refuses returns which quota refuses a vjob beside the counted ones, such as "quota cpus (night) of user
// ann: 38 of 40 CPU are used, it needs 4"; "" if none does.
func (t *Tally) Refuses(j *Job) string {
	if t.counted[j.ID] {
		return ""
	}
	for _, i := range t.countersOf(j.Association) {
		c := &t.counters[i]
		q := &t.book.quotas[c.quota]
		need := j.need(q.Within)
		for m := range measures {
			limit, limited := c.limits[m]
			if limited && need[m] > 0 && c.used[m]+need[m] > limit {
				return c.title + ": " + m.number(c.used[m]) + " of " + m.text(limit) + " are used" + c.promised(m) + ", it needs " + m.number(need[m]) + t.frees(c, m)
			}
		}
	}
	return ""
}

// promised returns how much of the use running vjobs may still make: " (7 of them promised to what runs)".
func (c *counter) promised(m Measure) string {
	if m != CPUTime || c.used[m] <= c.before {
		return ""
	}
	return " (" + m.number(c.used[m]-c.before) + " of them promised to what runs)"
}

// frees returns when some of the use expires: "; 3 come free at 18:00".
func (t *Tally) frees(c *counter, m Measure) string {
	if m != CPUTime {
		return ""
	}
	if !c.looked && t.past != nil {
		c.looked = true
		within := t.book.quotas[c.quota].Within
		if hours := t.past.Hours(c.group, t.now.Add(-within)); len(hours) > 0 {
			c.frees = "; " + m.number(hours[0].CPUTime) + " come free at " + cluster.Clock(hours[0].fades(within), t.now)
		}
	}
	return c.frees
}

// Capacity returns capacity that checks the quotas first. It starts from the counted vjobs and counts those
// that it takes separately. Vjobs that are not among the jobs have no quotas.
func (t *Tally) Capacity(inner queue.Capacity, jobs map[cluster.VJobID]*Job) queue.Capacity {
	return &limitedCapacity{inner: inner, tally: t.clone(), jobs: jobs}
}

type limitedCapacity struct {
	inner queue.Capacity
	tally *Tally
	jobs  map[cluster.VJobID]*Job
}

// Take implements [queue.Capacity].
func (r *limitedCapacity) Take(id cluster.VJobID) (ok bool, short queue.Shortage) {
	j, known := r.jobs[id]
	if !known {
		return r.inner.Take(id)
	}
	if why := r.tally.Refuses(j); why != "" {
		return false, queue.Shortage{Limit: why, Kind: cluster.CauseQuota}
	}
	if ok, short = r.inner.Take(id); ok {
		r.tally.Count(j)
	}
	return ok, short
}
