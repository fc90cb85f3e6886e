package db

import (
	"fmt"
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// prunedHistory says how much of a log and of the table of vjobs was deleted; zero is nothing.
// Live vjobs and their events are never deleted.
type prunedHistory struct {
	Events int64          // the largest number of a deleted event
	VJobs  cluster.VJobID // the largest number of a deleted vjob
}

// States replays a complete log, oldest event first, and returns the last state of each vjob.
func States(events []journal.Event) (map[cluster.VJobID]cluster.State, error) {
	r := newLogReplay(prunedHistory{})
	for _, e := range events {
		if err := r.Add(e); err != nil {
			return nil, err
		}
	}
	return r.states, nil
}

// logReplay replays a log event by event, for logs too long to hold in memory.
type logReplay struct {
	pruned prunedHistory
	seq    int64
	// firstWhole is the first vjob that was submitted after the deleted events: from it on
	// the log has every submission. 0 before there is one.
	firstWhole cluster.VJobID
	truncated  map[cluster.VJobID]bool // the submission was deleted
	states     map[cluster.VJobID]cluster.State
}

// newLogReplay starts before the first event of a log of which that much was deleted.
func newLogReplay(pruned prunedHistory) *logReplay {
	return &logReplay{pruned: pruned, truncated: map[cluster.VJobID]bool{}, states: map[cluster.VJobID]cluster.State{}}
}

// Add replays the next event; the error says how it contradicts earlier events.
func (r *logReplay) Add(e journal.Event) error {
	if e.Seq <= r.seq {
		return fmt.Errorf("event %d follows event %d", e.Seq, r.seq)
	}
	r.seq = e.Seq
	switch e.Kind {
	case journal.EventSubmitted:
		if _, known := r.states[e.VJob]; known {
			return fmt.Errorf("event %d: vjob %s was submitted before", e.Seq, e.VJob)
		}
		if r.firstWhole == 0 && e.Seq > r.pruned.Events {
			r.firstWhole = e.VJob
		}
		r.states[e.VJob] = cluster.Waiting
	case journal.EventState:
		return r.change(e)
	case journal.EventPlan, journal.EventAction, journal.EventNode, journal.EventRules, journal.EventBudgets, journal.EventPrices, journal.EventPools, journal.EventSettings, journal.EventRecommendation, journal.EventNotify, journal.EventAlarm, journal.EventAudit: // change no vjob
	}
	return nil
}

func (r *logReplay) change(e journal.Event) error {
	old, known := r.states[e.VJob]
	next, err := cluster.ParseState(e.State)
	switch {
	case err != nil:
		return fmt.Errorf("event %d: %w", e.Seq, err)
	case !known && !r.mayLack(e.VJob):
		return fmt.Errorf("event %d: vjob %s was never submitted", e.Seq, e.VJob)
	case !known:
		r.truncated[e.VJob] = true
	case next != old && !old.CanBecome(next): // the same state again is a change of Held
		return fmt.Errorf("event %d: vjob %s: %s cannot become %s", e.Seq, e.VJob, old, next)
	}
	r.states[e.VJob] = next
	return nil
}

// mayLack reports whether the submission of a vjob may have been deleted. Vjobs are numbered
// in the order of the log, so every vjob from firstWhole on must have its submission.
func (r *logReplay) mayLack(id cluster.VJobID) bool {
	return r.pruned.Events > 0 && (r.firstWhole == 0 || id < r.firstWhole)
}

// Compare returns how the tables differ from the log, or nil.
func (r *logReplay) Compare(tables map[cluster.VJobID]cluster.State) error {
	for _, id := range slices.Sorted(maps.Keys(r.states)) {
		logged := r.states[id]
		kept, ok := tables[id]
		deleted := !ok && logged.Terminal() && id <= r.pruned.VJobs
		if !deleted && (!ok || kept != logged) {
			return fmt.Errorf("vjob %s: the log ends in %s, the table has %s (present: %t)", id, logged, kept, ok)
		}
		if r.truncated[id] && !logged.Terminal() {
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
