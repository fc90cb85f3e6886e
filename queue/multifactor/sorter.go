package multifactor

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
)

// Sorter is the vjobs in order. It takes changes one by one and sorts only if there were
// some, or if time has changed a priority. It belongs to one goroutine.
type Sorter struct {
	rules   Rules
	jobs    []Job // in no order; a place that is free has the zero ID
	free    []int32
	index   map[cluster.VJobID]int32 // in jobs
	places  []place                  // in the order of the last time, then those that came since
	order   []cluster.VJobID
	at      [2]int64       // steps of age and of urgency at the last time, if they count
	dated   int            // how many have a deadline
	changed map[int32]bool // those of jobs that have changed since
	dropped bool           // some were dropped
}

// place is what is sorted: little, since it is moved about.
type place struct {
	key       int64
	submitted int64 // nanoseconds since 1970
	id        cluster.VJobID
	job       int32 // in Line.jobs
}

// NewSorter is an empty line; an error tells which rule is wrong.
func NewSorter(r Rules) (*Sorter, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	return &Sorter{rules: r, index: map[cluster.VJobID]int32{}, changed: map[int32]bool{}}, nil
}

// Put adds a vjob, whose ID is not 0, or changes what is known of it. One that is the
// same changes nothing.
func (l *Sorter) Put(j Job) {
	i, there := l.index[j.ID]
	switch {
	case there && l.jobs[i] == j:
		return
	case there:
	case len(l.free) > 0:
		i = l.free[len(l.free)-1]
		l.free = l.free[:len(l.free)-1]
	default:
		i = int32(len(l.jobs))
		l.jobs = append(l.jobs, Job{})
	}
	if !there {
		l.index[j.ID] = i
		l.places = append(l.places, place{id: j.ID, job: i})
	}
	l.dated += dated(&j) - dated(&l.jobs[i])
	l.jobs[i], l.changed[i] = j, true
}

// dated counts a vjob with a deadline.
func dated(j *Job) int {
	if j.Deadline.IsZero() {
		return 0
	}
	return 1
}

// Drop removes a vjob; one that is not there changes nothing. Its place in the order is
// closed when that is asked for, and until then not given to another.
func (l *Sorter) Drop(id cluster.VJobID) {
	if i, there := l.index[id]; there {
		delete(l.index, id)
		l.dated -= dated(&l.jobs[i])
		l.jobs[i], l.changed[i], l.dropped = Job{}, true, true
	}
}

// Order is the line at an instant. It stays the line's own: it is right until the next
// call, and must not be changed.
func (l *Sorter) Order(now time.Time) []cluster.VJobID {
	var at [2]int64
	if l.ageCounts() {
		at[0] = steps(now, l.rules.OldAge)
	}
	if l.urgencyCounts() {
		at[1] = steps(now, l.rules.Horizon)
	}
	switch {
	case l.at != at:
		l.removeDropped()
		l.sort(l.places, now)
	case len(l.changed) > 0:
		l.merge(now)
	default:
		return l.order
	}
	l.at = at
	clear(l.changed)
	l.order = l.order[:0]
	for i := range l.places {
		l.order = append(l.order, l.places[i].id)
	}
	return l.order
}

// sort puts places in order, with the keys of an instant.
func (l *Sorter) sort(places []place, now time.Time) {
	for i := range places {
		p := &places[i]
		j := &l.jobs[p.job]
		p.key, p.submitted = l.rules.key(j, now), j.Submitted.UnixNano()
	}
	slices.SortFunc(places, func(a, b place) int { return a.compare(&b) })
}

func (p *place) compare(o *place) int {
	if p.key != o.key {
		return cmp.Compare(o.key, p.key)
	}
	return cmp.Or(cmp.Compare(p.submitted, o.submitted), cmp.Compare(p.id, o.id))
}

// merge puts those that have changed in order among the others, who are.
func (l *Sorter) merge(now time.Time) {
	l.removeDropped()
	var changed []place
	same := l.places[:0]
	for _, p := range l.places {
		if l.changed[p.job] {
			changed = append(changed, p)
		} else {
			same = append(same, p)
		}
	}
	l.sort(changed, now)
	// From the back, so that nobody is overwritten before he has moved.
	i, k := len(same)-1, len(changed)-1
	for n := len(l.places) - 1; k >= 0; n-- {
		if i >= 0 && same[i].compare(&changed[k]) > 0 {
			l.places[n] = same[i]
			i--
		} else {
			l.places[n] = changed[k]
			k--
		}
	}
}

// removeDropped removes the places of those that were dropped.
func (l *Sorter) removeDropped() {
	if !l.dropped {
		return
	}
	l.dropped = false
	l.places = slices.DeleteFunc(l.places, func(p place) bool {
		gone := l.jobs[p.job].ID == 0
		if gone {
			l.free = append(l.free, p.job)
		}
		return gone
	})
}

// Priority is the rank of a vjob at an instant; it reports false for one that is not there.
func (l *Sorter) Priority(id cluster.VJobID, now time.Time) (r Priority, there bool) {
	i, there := l.index[id]
	if !there {
		return Priority{}, false
	}
	return l.rules.Of(&l.jobs[i], now), true
}

// ageCounts and presses report whether time changes priorities, by age and by deadlines.
func (l *Sorter) ageCounts() bool     { return l.rules.Age > 0 && len(l.index) > 0 }
func (l *Sorter) urgencyCounts() bool { return l.rules.Deadline > 0 && l.dated > 0 }

// Next is when time alone changes a priority again; zero: it does not.
func (l *Sorter) Next(now time.Time) (next time.Time) {
	if l.ageCounts() {
		next = after(now, l.rules.OldAge)
	}
	if l.urgencyCounts() {
		if t := after(now, l.rules.Horizon); next.IsZero() || t.Before(next) {
			next = t
		}
	}
	return next
}

// after is when the next step of a length of time begins.
func after(now time.Time, length time.Duration) time.Time {
	return time.Unix(0, (steps(now, length)+1)*int64(length/scale)).In(now.Location())
}
