package multifactor

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
)

// Line is the vjobs in order. It takes changes one by one and sorts only if there were
// some, or if time has changed a priority. It belongs to one goroutine.
type Line struct {
	rules  Rules
	jobs   []Job // in no order; a place that is free has the zero ID
	free   []int32
	where  map[cluster.VJobID]int32 // in jobs
	places []place                  // in the order of the last time, then those that came since
	order  []cluster.VJobID
	at     [2]int64       // steps of age and of urgency at the last time, if they count
	dated  int            // how many have a deadline
	news   map[int32]bool // those of jobs that have changed since
	gone   bool           // some were dropped
}

// place is what is sorted: little, since it is moved about.
type place struct {
	key       int64
	submitted int64 // nanoseconds since 1970
	id        cluster.VJobID
	job       int32 // in Line.jobs
}

// NewLine is an empty line; an error tells which rule is wrong.
func NewLine(r Rules) (*Line, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	return &Line{rules: r, where: map[cluster.VJobID]int32{}, news: map[int32]bool{}}, nil
}

// Put adds a vjob, whose ID is not 0, or changes what is known of it. One that is the
// same changes nothing.
func (l *Line) Put(j Job) {
	i, there := l.where[j.ID]
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
		l.where[j.ID] = i
		l.places = append(l.places, place{id: j.ID, job: i})
	}
	l.dated += dated(&j) - dated(&l.jobs[i])
	l.jobs[i], l.news[i] = j, true
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
func (l *Line) Drop(id cluster.VJobID) {
	if i, there := l.where[id]; there {
		delete(l.where, id)
		l.dated -= dated(&l.jobs[i])
		l.jobs[i], l.news[i], l.gone = Job{}, true, true
	}
}

// Order is the line at an instant. It stays the line's own: it is right until the next
// call, and must not be changed.
func (l *Line) Order(now time.Time) []cluster.VJobID {
	var at [2]int64
	if l.ages() {
		at[0] = steps(now, l.rules.OldAge)
	}
	if l.presses() {
		at[1] = steps(now, l.rules.Horizon)
	}
	switch {
	case l.at != at:
		l.close()
		l.sort(l.places, now)
	case len(l.news) > 0:
		l.merge(now)
	default:
		return l.order
	}
	l.at = at
	clear(l.news)
	l.order = l.order[:0]
	for i := range l.places {
		l.order = append(l.order, l.places[i].id)
	}
	return l.order
}

// sort puts places in order, with the keys of an instant.
func (l *Line) sort(places []place, now time.Time) {
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
func (l *Line) merge(now time.Time) {
	l.close()
	var changed []place
	same := l.places[:0]
	for _, p := range l.places {
		if l.news[p.job] {
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

// close removes the places of those that were dropped.
func (l *Line) close() {
	if !l.gone {
		return
	}
	l.gone = false
	l.places = slices.DeleteFunc(l.places, func(p place) bool {
		gone := l.jobs[p.job].ID == 0
		if gone {
			l.free = append(l.free, p.job)
		}
		return gone
	})
}

// Rank is the rank of a vjob at an instant; it reports false for one that is not there.
func (l *Line) Rank(id cluster.VJobID, now time.Time) (r Priority, there bool) {
	i, there := l.where[id]
	if !there {
		return Priority{}, false
	}
	return l.rules.Of(&l.jobs[i], now), true
}

// ages and presses report whether time changes priorities, by age and by deadlines.
func (l *Line) ages() bool    { return l.rules.Age > 0 && len(l.where) > 0 }
func (l *Line) presses() bool { return l.rules.Deadline > 0 && l.dated > 0 }

// Next is when time alone changes a priority again; zero: it does not.
func (l *Line) Next(now time.Time) (next time.Time) {
	if l.ages() {
		next = after(now, l.rules.OldAge)
	}
	if l.presses() {
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
