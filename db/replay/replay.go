// Package replay reads the event log as if it were the only record: each change
// of state must be an edge of the state diagram, and the last one must be what
// the tables say (RELIABILITY §5.4, invariant 17).
package replay

import (
	"fmt"
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/journal"
)

// States plays the events of kinds submitted and state, oldest first, and returns
// the state that each vjob ends in.
func States(events []journal.Event) (map[cluster.VJobID]cluster.State, error) {
	r := NewReader()
	for _, e := range events {
		if err := r.Add(e); err != nil {
			return nil, err
		}
	}
	return r.states, nil
}

// Reader plays a log event by event, for logs too long to hold.
type Reader struct {
	seq    int64
	states map[cluster.VJobID]cluster.State
}

// NewReader starts before the first event.
func NewReader() *Reader { return &Reader{states: map[cluster.VJobID]cluster.State{}} }

// Add plays the next event; the error says how it contradicts those before.
func (r *Reader) Add(e journal.Event) error {
	if e.Seq <= r.seq {
		return fmt.Errorf("event %d follows event %d", e.Seq, r.seq)
	}
	r.seq = e.Seq
	old, known := r.states[e.VJob]
	switch e.Kind {
	case journal.EventSubmitted:
		if known {
			return fmt.Errorf("event %d: vjob %s was submitted before", e.Seq, e.VJob)
		}
		r.states[e.VJob] = cluster.Waiting
	case journal.EventState:
		next, err := cluster.ParseState(e.State)
		switch {
		case err != nil:
			return fmt.Errorf("event %d: %w", e.Seq, err)
		case !known:
			return fmt.Errorf("event %d: vjob %s was never submitted", e.Seq, e.VJob)
		case next != old && !old.CanBecome(next): // the same state again is a change of Held
			return fmt.Errorf("event %d: vjob %s: %s cannot become %s", e.Seq, e.VJob, old, next)
		}
		r.states[e.VJob] = next
	case journal.EventPlan, journal.EventAction, journal.EventNode, journal.EventAlarm: // change no vjob
	}
	return nil
}

// Compare says where the tables differ from the log, or nil.
func (r *Reader) Compare(tables map[cluster.VJobID]cluster.State) error {
	for _, id := range slices.Sorted(maps.Keys(r.states)) {
		if s, ok := tables[id]; !ok || s != r.states[id] {
			return fmt.Errorf("vjob %s: the log ends in %s, the table has %s (present: %t)", id, r.states[id], s, ok)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(tables)) {
		if _, ok := r.states[id]; !ok {
			return fmt.Errorf("vjob %s: not in the log", id)
		}
	}
	return nil
}
