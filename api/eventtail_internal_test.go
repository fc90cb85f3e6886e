package api

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/db"
	"vjob/scheduler/admission"
)

// countingLog counts how often the log is read.
type countingLog struct {
	eventReader
	reads int
}

func (l *countingLog) Events(ctx context.Context, f journal.EventFilter) ([]journal.Event, error) {
	l.reads++
	return l.eventReader.Events(ctx, f)
}

// tailFixture is a tail of a few events over a store with vjobs of two owners.
func tailFixture(t *testing.T) (store *db.DB, log *countingLog, tail *eventTail) {
	t.Helper()
	store, err := db.Open(filepath.Join(t.TempDir(), "vjob.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	for i := range 6 {
		owner := []string{"alice", "bob"}[i%2]
		if _, _, err := store.Submit(t.Context(), admission.Submission{Owner: owner, VMs: make([]cluster.VM, 1)}); err != nil {
			t.Fatal(err)
		}
	}
	log = &countingLog{eventReader: store}
	return store, log, &eventTail{log: log, news: newBroadcast(), poll: time.Hour, now: time.Now, size: 10}
}

// A reader of the tail receives the same events in the same order as one of the log, wherever it begins.
func TestTailIsTheLog(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		store, _, tail := tailFixture(t)
		readers := make([]journal.EventFilter, 8)
		for i := range readers {
			readers[i] = journal.EventFilter{After: rng.Int64N(8), Limit: 1 + rng.IntN(5), Owner: []string{"", "alice", "bob", "eve"}[rng.IntN(4)], VJob: cluster.VJobID(rng.IntN(3))}
		}
		got, want := make([][]int64, len(readers)), make([][]int64, len(readers))
		starts := make([]journal.EventFilter, len(readers))
		copy(starts, readers)
		for range 60 {
			if rng.IntN(3) == 0 {
				writeSome(t, store, rng)
				tail.news.notify()
			}
			i := rng.IntN(len(readers))
			list, upTo, err := tail.since(t.Context(), readers[i])
			if err != nil || upTo < readers[i].After || len(list) > readers[i].Limit {
				t.Fatalf("seed %d: reader %+v: %d events up to %d, %v", seed, readers[i], len(list), upTo, err)
			}
			readers[i].After = upTo
			for _, e := range list {
				got[i] = append(got[i], e.Seq)
			}
		}
		for i, f := range starts {
			f.Limit = 0
			all, err := store.Events(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range all {
				if e.Seq <= readers[i].After {
					want[i] = append(want[i], e.Seq)
				}
			}
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Errorf("seed %d: reader %+v: events %v up to %d, want %v", seed, f, got[i], readers[i].After, want[i])
			}
		}
	}
}

// writeSome writes some events of vjobs and of the cluster.
func writeSome(t *testing.T, store *db.DB, rng *rand.Rand) {
	t.Helper()
	events := make([]journal.Event, 1+rng.IntN(9))
	for i := range events {
		events[i] = journal.Event{Kind: journal.EventAlarm, VJob: cluster.VJobID(rng.IntN(7)), Text: "something"}
	}
	if err := store.Commit(t.Context(), journal.Step{Events: events}); err != nil {
		t.Fatal(err)
	}
}

// Of many readers one reads the log, and only after a notice.
func TestTailIsReadOnce(t *testing.T) {
	store, log, tail := tailFixture(t)
	tail.size = tailSize
	rng := rand.New(rand.NewPCG(1, 0))
	last, err := tail.last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	log.reads = 0
	for range 10 {
		writeSome(t, store, rng)
		tail.news.notify()
		for range 100 {
			if _, _, err := tail.since(t.Context(), journal.EventFilter{After: last, Owner: "alice", Limit: 100}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if log.reads != 10 {
		t.Errorf("10 commits with 100 readers after each read the log %d times, want 10", log.reads)
	}
}

// ownedLog is a log of one event.
type ownedLog struct{ owner string }

func (l *ownedLog) Events(_ context.Context, f journal.EventFilter) (list []journal.Event, err error) {
	if f.After < 1 && (f.Owner == "" || f.Owner == l.owner) {
		list = append(list, journal.Event{Seq: 1, VJob: 1, Owner: l.owner})
	}
	return list, nil
}

// A new account with the name of a deleted one receives nothing of the vjobs of before.
func TestTailForgets(t *testing.T) {
	log := &ownedLog{owner: "alice"}
	tail := &eventTail{log: log, news: newBroadcast(), poll: time.Hour, now: time.Now}
	ofAlice := func() int {
		list, _, err := tail.since(t.Context(), journal.EventFilter{Owner: "alice", Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if n := ofAlice(); n != 1 {
		t.Fatalf("alice receives %d events of her vjob, want 1", n)
	}
	log.owner = "alice (deleted)"
	tail.forget()
	if n := ofAlice(); n != 0 {
		t.Errorf("a new alice receives %d events, want none", n)
	}
}

// The first event after a pause is sent at once; batches in a row are streamRest apart.
func TestStreamsRestBetweenBatches(t *testing.T) {
	now := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		sent time.Time
		want bool
	}{
		{"nothing was sent", time.Time{}, false},
		{"after a pause", now.Add(-streamRest), false},
		{"just after a batch", now.Add(-time.Millisecond), true},
	} {
		if rest := (&eventStream{sent: c.sent}).rest(now); rest > 0 != c.want {
			t.Errorf("%s: rests for %v, want a rest: %t", c.name, rest, c.want)
		}
	}
}
