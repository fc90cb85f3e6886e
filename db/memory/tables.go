package memory

import (
	"cmp"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
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

// VJobs lists all stored vjobs, ended ones too.
func (s *Store) VJobs() []journal.Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.vjobs)
}

// VJob returns a vjob with its gang.
func (s *Store) VJob(id cluster.VJobID) (kept journal.Kept, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.at(id)
	if !ok {
		return journal.Kept{}, false
	}
	return journal.Kept{Row: s.vjobs[at], Gang: s.gangs[at]}, true
}

// Gangs lists the gangs of these vjobs.
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

// Intents lists the calls that were intended, with their results.
func (s *Store) Intents() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Events lists the event log from the first event after the given number.
func (s *Store) Events(after int64) []journal.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, found := slices.BinarySearchFunc(s.events, after, func(e journal.Event, seq int64) int { return cmp.Compare(e.Seq, seq) })
	if found {
		from++
	}
	return slices.Clone(s.events[from:])
}

// Charges lists what accounts were charged.
func (s *Store) Charges() []journal.Charge {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.charges)
}
