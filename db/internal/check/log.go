// Package replay reads the event log as if it were the only record: each change
// of state must be an edge of the state diagram, and the last one must be what
// the tables say (RELIABILITY §5.4, invariant 17). Of a log whose oldest part was
// deleted it demands what must still be there.
package check

import (
	"fmt"
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Gaps says how much was deleted of a log and of the table of vjobs. Zero is
// nothing.
type Gaps struct {
	Events int64          // no event with a larger number was deleted, and none of a live vjob
	VJobs  cluster.VJobID // no vjob with a larger number was deleted, and none that was live
}

// States plays the events of kinds submitted and state of a whole log, oldest
// first, and returns the state that each vjob ends in.
func States(events []journal.Event) (map[cluster.VJobID]cluster.State, error) {
	r := NewReader(Gaps{})
	for _, e := range events {
		if err := r.Add(e); err != nil {
			return nil, err
		}
	}
	return r.states, nil
}

// Reader plays a log event by event, for logs too long to hold.
type Reader struct {
	gaps   Gaps
	seq    int64
	whole  cluster.VJobID // the first one that was submitted after the gaps; 0 before there is one
	cut    map[cluster.VJobID]bool
	states map[cluster.VJobID]cluster.State
}

// NewReader starts before the first event.
func NewReader(gaps Gaps) *Reader {
	return &Reader{gaps: gaps, cut: map[cluster.VJobID]bool{}, states: map[cluster.VJobID]cluster.State{}}
}

// Add plays the next event; the error says how it contradicts those before.
func (r *Reader) Add(e journal.Event) error {
	if e.Seq <= r.seq {
		return fmt.Errorf("event %d follows event %d", e.Seq, r.seq)
	}
	r.seq = e.Seq
	switch e.Kind {
	case journal.EventSubmitted:
		if _, known := r.states[e.VJob]; known {
			return fmt.Errorf("event %d: vjob %s was submitted before", e.Seq, e.VJob)
		}
		if r.whole == 0 && e.Seq > r.gaps.Events {
			r.whole = e.VJob
		}
		r.states[e.VJob] = cluster.Waiting
	case journal.EventState:
		return r.change(e)
	case journal.EventPlan, journal.EventAction, journal.EventNode, journal.EventRules, journal.EventBudgets, journal.EventPrices, journal.EventNotify, journal.EventAlarm, journal.EventAudit: // change no vjob
	}
	return nil
}

func (r *Reader) change(e journal.Event) error {
	old, known := r.states[e.VJob]
	next, err := cluster.ParseState(e.State)
	switch {
	case err != nil:
		return fmt.Errorf("event %d: %w", e.Seq, err)
	case !known && !r.mayLack(e.VJob):
		return fmt.Errorf("event %d: vjob %s was never submitted", e.Seq, e.VJob)
	case !known:
		r.cut[e.VJob] = true
	case next != old && !old.CanBecome(next): // the same state again is a change of Held
		return fmt.Errorf("event %d: vjob %s: %s cannot become %s", e.Seq, e.VJob, old, next)
	}
	r.states[e.VJob] = next
	return nil
}

// mayLack reports whether the submission of a vjob may have been deleted. Numbers
// are given in the order of the log, so whoever was submitted after one whose
// submission is certain to be there is there too.
func (r *Reader) mayLack(id cluster.VJobID) bool {
	return r.gaps.Events > 0 && (r.whole == 0 || id < r.whole)
}

// Compare says where the tables differ from the log, or nil.
func (r *Reader) Compare(tables map[cluster.VJobID]cluster.State) error {
	for _, id := range slices.Sorted(maps.Keys(r.states)) {
		logged := r.states[id]
		kept, ok := tables[id]
		deleted := !ok && logged.Terminal() && id <= r.gaps.VJobs
		if !deleted && (!ok || kept != logged) {
			return fmt.Errorf("vjob %s: the log ends in %s, the table has %s (present: %t)", id, logged, kept, ok)
		}
		if r.cut[id] && !logged.Terminal() {
			return fmt.Errorf("vjob %s: it is %s, and its oldest events are missing", id, logged)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(tables)) {
		deleted := tables[id].Terminal() && r.mayLack(id)
		if _, ok := r.states[id]; !ok && !deleted {
			return fmt.Errorf("vjob %s: not in the log", id)
		}
	}
	return nil
}
