package memory

import (
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/journal"
)

// What follows shows the tables to checkers and reports. Lists are in order of
// their numbers and belong to the caller; what they point to is shared with the
// store and must not be changed.

// Epoch is how many times the store was loaded.
func (s *Store) Epoch() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch
}

// VJobs lists all vjobs, ended ones too.
func (s *Store) VJobs() []journal.Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.vjobs)
}

// VJob returns a vjob with its gang.
func (s *Store) VJob(id cluster.VJobID) (kept journal.Kept, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.has(id) {
		return journal.Kept{}, false
	}
	return journal.Kept{Row: s.vjobs[id-1], Gang: s.gangs[id-1]}, true
}

// Gangs lists the gangs of all vjobs, ended ones too.
func (s *Store) Gangs() []gang.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.gangs)
}

// Nodes lists the nodes.
func (s *Store) Nodes() []cluster.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sortedNodes()
}

// Plans lists the plans with their progress.
func (s *Store) Plans() []journal.PlanDetail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.plans)
}

// Intents lists every call that was ever intended, with its result.
func (s *Store) Intents() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Events lists the event log from the first event after the given number.
func (s *Store) Events(after int64) []journal.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := min(max(after, 0), int64(len(s.events)))
	return slices.Clone(s.events[from:])
}
