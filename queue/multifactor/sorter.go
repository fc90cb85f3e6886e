package multifactor

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
)

// Sorter keeps vjobs sorted by priority. Changes are incremental: it sorts only changed vjobs, and all only
// if time has changed a priority. It belongs to one goroutine.
type Sorter struct {
	settings Settings
	jobs     []Factors // unsorted; free ones have the zero ID
	free     []int32
	index    map[cluster.VJobID]int32 // in jobs
	places   []place                  // sorted as of at, then new ones
	order    []cluster.VJobID
	at       [2]int64       // steps of age and of urgency of the last sort
	dated    int            // number of vjobs with a deadline
	changed  map[int32]bool // indices of jobs changed since the last sort
	dropped  bool           // places of dropped vjobs remain
}

// place is what is sorted; it is small, since it is moved often.
type place struct {
	key       int64
	submitted int64 // nanoseconds since 1970
	id        cluster.VJobID
	job       int32 // in Line.jobs
}

// NewSorter returns an empty sorter; an error names the invalid setting.
func NewSorter(r Settings) (*Sorter, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	return &Sorter{settings: r, index: map[cluster.VJobID]int32{}, changed: map[int32]bool{}}, nil
}

// Grow makes room for n more vjobs.
func (l *Sorter) Grow(n int) {
	l.jobs, l.places = slices.Grow(l.jobs, n), slices.Grow(l.places, n)
	if len(l.index) == 0 {
		l.index, l.changed = make(map[cluster.VJobID]int32, n), make(map[int32]bool, n)
	}
}

// Factors returns what a vjob was put with; false if it is unknown.
func (l *Sorter) Factors(id cluster.VJobID) (Factors, bool) {
	i, there := l.index[id]
	if !there {
		return Factors{}, false
	}
	return l.jobs[i], true
}

// Put adds a vjob with an ID other than 0, or updates it.
func (l *Sorter) Put(j Factors) {
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
		l.jobs = append(l.jobs, Factors{})
	}
	if !there {
		l.index[j.ID] = i
		l.places = append(l.places, place{id: j.ID, job: i})
	}
	l.dated += dated(&j) - dated(&l.jobs[i])
	l.jobs[i], l.changed[i] = j, true
}

// dated returns 1 for a vjob with a deadline.
func dated(j *Factors) int {
	if j.Deadline.IsZero() {
		return 0
	}
	return 1
}

// Drop removes a vjob; an unknown one is ignored. Its place is reused after the next sort.
func (l *Sorter) Drop(id cluster.VJobID) {
	if i, there := l.index[id]; there {
		delete(l.index, id)
		l.dated -= dated(&l.jobs[i])
		l.jobs[i], l.changed[i], l.dropped = Factors{}, true, true
	}
}

// Order returns the vjobs in order at an instant. The result is valid until the next call; callers must not
// change it.
func (l *Sorter) Order(now time.Time) []cluster.VJobID {
	var at [2]int64
	if l.ageCounts() {
		at[0] = steps(now, l.settings.OldAge)
	}
	if l.urgencyCounts() {
		at[1] = steps(now, l.settings.Horizon)
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
	l.changed = map[int32]bool{} // a cleared map would keep its size, which each sort goes through
	l.order = slices.Grow(l.order[:0], len(l.places))
	for i := range l.places {
		l.order = append(l.order, l.places[i].id)
	}
	return l.order
}

// sort sorts places with the keys of an instant.
func (l *Sorter) sort(places []place, now time.Time) {
	for i := range places {
		p := &places[i]
		j := &l.jobs[p.job]
		p.key, p.submitted = l.settings.key(j, now), j.Submitted.UnixNano()
	}
	slices.SortFunc(places, func(a, b place) int { return a.compare(&b) })
}

func (p *place) compare(o *place) int {
	if p.key != o.key {
		return cmp.Compare(o.key, p.key)
	}
	return cmp.Or(cmp.Compare(p.submitted, o.submitted), cmp.Compare(p.id, o.id))
}

// merge sorts the changed places and merges them into the others.
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
	// From the back, so that no place is overwritten before it has moved.
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

// removeDropped removes the places of dropped vjobs.
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

// Priority returns the priority of a vjob at an instant; false if it is unknown.
func (l *Sorter) Priority(id cluster.VJobID, now time.Time) (r Priority, there bool) {
	i, there := l.index[id]
	if !there {
		return Priority{}, false
	}
	return l.settings.Priority(&l.jobs[i], now), true
}

// ageCounts and urgencyCounts report whether age and deadlines change priorities with time.
func (l *Sorter) ageCounts() bool     { return l.settings.Age > 0 && len(l.index) > 0 }
func (l *Sorter) urgencyCounts() bool { return l.settings.Deadline > 0 && l.dated > 0 }

// Next returns when time alone changes a priority; zero: never.
func (l *Sorter) Next(now time.Time) (next time.Time) {
	if l.ageCounts() {
		next = after(now, l.settings.OldAge)
	}
	if l.urgencyCounts() {
		if t := after(now, l.settings.Horizon); next.IsZero() || t.Before(next) {
			next = t
		}
	}
	return next
}

// after returns the beginning of the next step of a length of time.
func after(now time.Time, length time.Duration) time.Time {
	return time.Unix(0, (steps(now, length)+1)*int64(length/scale)).In(now.Location())
}
