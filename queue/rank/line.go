package rank

import (
	"slices"
	"time"

	"vjob/cluster"
)

// Line is the vjobs in order. It takes changes one by one and sorts only if there were
// some, or if time has changed a priority. It belongs to one goroutine.
type Line struct {
	rules Rules
	jobs  map[cluster.VJobID]Job
	ranks []Rank // in the order of the last time, then those that came since
	gone  map[cluster.VJobID]bool
	at    [2]int64 // steps of age and of urgency at the last time
	fresh bool     // nothing has changed since
}

// NewLine is an empty line; an error tells which rule is wrong.
func NewLine(r Rules) (*Line, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	return &Line{rules: r, jobs: map[cluster.VJobID]Job{}, gone: map[cluster.VJobID]bool{}}, nil
}

// Put adds a vjob or changes what is known of it. One that is the same changes nothing.
func (l *Line) Put(j Job) {
	known, there := l.jobs[j.ID]
	if there && known == j {
		return
	}
	if !there && !l.gone[j.ID] {
		l.ranks = append(l.ranks, Rank{ID: j.ID})
	}
	delete(l.gone, j.ID)
	l.jobs[j.ID] = j
	l.fresh = false
}

// Drop removes a vjob; one that is not there changes nothing.
func (l *Line) Drop(id cluster.VJobID) {
	if _, there := l.jobs[id]; there {
		delete(l.jobs, id)
		l.gone[id] = true
		l.fresh = false
	}
}

// Order is the line at an instant. It stays the line's own: it is right until the next
// call, and must not be changed.
func (l *Line) Order(now time.Time) []Rank {
	at := [2]int64{steps(now, l.rules.OldAge), steps(now, l.rules.Horizon)}
	if l.fresh && l.at == at {
		return l.ranks
	}
	l.at, l.fresh = at, true
	if len(l.gone) > 0 {
		l.ranks = slices.DeleteFunc(l.ranks, func(r Rank) bool { return l.gone[r.ID] })
		clear(l.gone)
	}
	for i := range l.ranks {
		j := l.jobs[l.ranks[i].ID]
		l.ranks[i] = l.rules.Of(&j, now)
	}
	// The last order is nearly this one, which the sort takes little time to see.
	slices.SortFunc(l.ranks, func(a, b Rank) int { return a.Compare(&b) })
	return l.ranks
}

// Next is when time alone changes a priority again.
func (l *Line) Next(now time.Time) time.Time {
	return earlier(after(now, l.rules.OldAge), after(now, l.rules.Horizon))
}

// after is when the next step of a length of time begins.
func after(now time.Time, length time.Duration) time.Time {
	return time.Unix(0, (steps(now, length)+1)*int64(length/scale)).In(now.Location())
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
