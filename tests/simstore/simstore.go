// Package simstore is the store of simulations: the database of the daemon, in memory, with failures on demand.
package simstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/db"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// ErrWritten is a failure after the write: FailNext returns or wraps it, the write happens, and the caller gets the error
// all the same.
var ErrWritten = errors.New("written, but the reply was lost")

// Store is a database in memory. It is safe for concurrent use, except that FailNext is set before.
type Store struct {
	*db.DB
	// FailNext is asked before each write and may be nil; nil lets the write happen. An error that is ErrWritten is
	// returned after the write, any other one instead of it. FailNext must not call the store.
	FailNext func() error

	mu      sync.Mutex
	epoch   int64
	intents []journal.Intent
	rows    []journal.Row // nil after a write
}

var _ scheduler.Store = (*Store)(nil)

// New opens an empty store.
func New() (*Store, error) {
	d, err := db.OpenMemory()
	if err != nil {
		return nil, err
	}
	return &Store{DB: d}, nil
}

// Open opens an empty store, which is closed at the end of the test.
func Open(tb testing.TB) *Store {
	tb.Helper()
	s, err := New()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// write does a write, unless it is to fail before. It returns an error of the write, or the one that is to come after it.
func (s *Store) write(what string, work func() error) error {
	var fail error
	if s.FailNext != nil {
		fail = s.FailNext()
	}
	if fail != nil && !errors.Is(fail, ErrWritten) {
		return fmt.Errorf("%s: %w", what, fail)
	}
	err := work()
	s.mu.Lock()
	s.rows = nil
	s.mu.Unlock()
	if err == nil && fail != nil {
		err = fmt.Errorf("%s: %w", what, fail)
	}
	return err
}

// Commit writes a step.
func (s *Store) Commit(ctx context.Context, step journal.Step) error {
	if step.Empty() {
		return ctx.Err()
	}
	return s.write("commit", func() error {
		err := s.DB.Commit(ctx, step)
		if err == nil {
			s.mu.Lock()
			s.intents = append(s.intents, step.Intents...)
			s.mu.Unlock()
		}
		return err
	})
}

// Load begins a new epoch.
func (s *Store) Load(ctx context.Context) (l journal.Loaded, err error) {
	err = s.write("begin an epoch", func() (err error) {
		l, err = s.DB.Load(ctx)
		if err == nil {
			s.mu.Lock()
			s.epoch = l.Epoch
			s.mu.Unlock()
		}
		return err
	})
	if err != nil {
		return journal.Loaded{}, err
	}
	return l, nil
}

// Submit writes new vjobs.
func (s *Store) Submit(ctx context.Context, sub admission.Submission) (job *cluster.VJob, created bool, err error) {
	err = s.write("submit", func() (err error) {
		job, created, err = s.DB.Submit(ctx, sub)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return job, created, nil
}

// SaveNodes writes declared nodes.
func (s *Store) SaveNodes(ctx context.Context, declared []cluster.Node) (undeclared []cluster.NodeID, err error) {
	err = s.write("save nodes", func() (err error) {
		undeclared, err = s.DB.SaveNodes(ctx, declared)
		return err
	})
	return undeclared, err
}

// Prune deletes history.
func (s *Store) Prune(ctx context.Context, h journal.Horizon) iter.Seq2[journal.Pruned, error] {
	return func(yield func(journal.Pruned, error) bool) {
		for done, err := range s.DB.Prune(ctx, h) {
			if err == nil {
				err = s.write("prune", func() error { return nil })
			}
			if !yield(done, err) || err != nil {
				return
			}
		}
	}
}

// Epoch returns how many times the store was loaded.
func (s *Store) Epoch() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch
}

// Intents lists the intents of all committed steps.
func (s *Store) Intents() []journal.Intent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.intents
}

// VJobs lists all stored vjobs, without VMs, in order of their numbers.
func (s *Store) VJobs() []journal.Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		rows, _, err := s.DB.VJobs(context.Background(), journal.Filter{Terms: true})
		s.rows = must(rows, err)
	}
	return s.rows
}

// VJob returns a vjob with its gang.
func (s *Store) VJob(id cluster.VJobID) (kept journal.Kept, ok bool) {
	kept, err := s.DB.VJob(context.Background(), id)
	if errors.Is(err, cluster.ErrNotFound) {
		return journal.Kept{}, false
	}
	return must(kept, err), true
}

// Events lists the event log from the first event after the given number.
func (s *Store) Events(after int64) []journal.Event {
	return must(s.DB.Events(context.Background(), journal.EventFilter{After: after}))
}

// Totals lists the usage of each owner.
func (s *Store) Totals() []journal.Total { return must(s.DB.Totals(context.Background())) }

// Energy adds up what was drawn.
func (s *Store) Energy(f journal.EnergyFilter) []journal.EnergyRow {
	return must(s.DB.Energy(context.Background(), f))
}

// Check returns how the tables differ from the event log.
func (s *Store) Check() error { return s.DB.Check(context.Background()) }

// must returns the result of a read: reads in memory fail only if the store is closed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// Recommendations lists all recommendations, the newest first.
func (s *Store) Recommendations() []journal.Recommendation {
	return must(s.DB.Recommendations(context.Background(), journal.RecommendationFilter{}))
}
