package scheduler_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/tests/simstore"
)

// prunedStore is a store that counts prunes, with batches of 45 seconds.
type prunedStore struct {
	*simstore.Store
	batches int // of each prune
	err     error
	prunes  []pruned
}

// pruned is one prune: when it came, what it was asked for, and how far it came.
type pruned struct {
	after   time.Duration
	horizon journal.Horizon
	batches int
}

func (s *prunedStore) Prune(ctx context.Context, h journal.Horizon) iter.Seq2[journal.Pruned, error] {
	return func(yield func(journal.Pruned, error) bool) {
		s.prunes = append(s.prunes, pruned{after: time.Since(started), horizon: h})
		p := &s.prunes[len(s.prunes)-1]
		for ; p.batches < s.batches; p.batches++ {
			select {
			case <-time.After(45 * time.Second):
			case <-ctx.Done():
				yield(journal.Pruned{}, ctx.Err())
				return
			}
			if !yield(journal.Pruned{Events: 500, VJobs: 1}, nil) {
				return
			}
		}
		if s.err != nil {
			yield(journal.Pruned{}, s.err)
		}
	}
}

// pruning runs a loop over a store for some time and returns its log.
func pruning(t *testing.T, store scheduler.Store, every time.Duration, f func(*scheduler.Loop)) string {
	t.Helper()
	started = time.Now()
	var log strings.Builder
	l := scheduler.NewLoop(scheduler.LoopConfig{
		LoopSettings: scheduler.LoopSettings{
			Settings: settings(), Limits: admission.Limits{VMs: 10, Images: []string{"i"}}, Tick: time.Minute,
			Retention: journal.Retention{Events: 24 * time.Hour, VJobs: 48 * time.Hour},
		},
		Store: store, Driver: &sweptDriver{}, Log: slog.New(slog.NewTextHandler(&log, nil)), Now: time.Now, PruneEvery: every,
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	f(l)
	stop()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("the loop ended with %v", err)
	}
	return log.String()
}

// A failing prune is repeated; the log says how much went, and the error.
func TestPrunes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &prunedStore{Store: simstore.Open(t), batches: 3, err: errors.New("the disk is full")}
		log := pruning(t, s, time.Hour, func(*scheduler.Loop) { time.Sleep(150 * time.Minute) })
		var want []pruned
		for _, after := range []time.Duration{5 * time.Minute, time.Hour, 2 * time.Hour} {
			now := started.Add(after)
			want = append(want, pruned{after, journal.Horizon{
				Events: now.Add(-24 * time.Hour), VJobs: now.Add(-48 * time.Hour), Charges: now.Add(-16 * 7 * 24 * time.Hour),
				Energy: now.Add(-48 * time.Hour),
			}, 3})
		}
		if !slices.Equal(s.prunes, want) {
			t.Errorf("prunes %+v\nwant   %+v", s.prunes, want)
		}
		for _, line := range []string{
			`msg="old history deleted" events=1500 calls=0 plans=0 vjobs=3`, `msg="chore incomplete" chore=prune error="the disk is full"`,
		} {
			if n := strings.Count(log, line); n != 3 {
				t.Errorf("%s: %d times in\n%s", line, n, log)
			}
		}
	})
}

// A prune that takes long holds up neither the loop nor its end.
func TestPruneThatTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &prunedStore{Store: simstore.Open(t), batches: 1000}
		log := pruning(t, s, 7*time.Minute, func(l *scheduler.Loop) {
			time.Sleep(23 * time.Minute)
			if err := l.Requests.Order(t.Context(), 1, scheduler.OrderHold, "u"); !errors.Is(err, cluster.ErrNotFound) {
				t.Error(err)
			}
		})
		if len(s.prunes) != 2 || s.prunes[0].batches != 13 || s.prunes[1].batches != 2 {
			t.Errorf("prunes %+v", s.prunes)
		}
		if n := strings.Count(log, "chore incomplete"); n != 1 { // the end of the loop is no trouble
			t.Errorf("%d times in\n%s", n, log)
		}
	})
}

// The loop goes on beside a real prune, and its vjobs are not touched.
func TestPruneBesideTheLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := simstore.Open(t)
		log := pruning(t, store, time.Hour, func(l *scheduler.Loop) {
			for range 3 {
				if _, _, err := l.Requests.Submit(t.Context(), waiting("")); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Requests.Order(t.Context(), 2, scheduler.OrderDelete, "u"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Hour)
			if err := l.Requests.Order(t.Context(), 3, scheduler.OrderRelease, "u"); err != nil {
				t.Error(err)
			}
		})
		rows := store.VJobs()
		if len(rows) != 2 || rows[0].ID != 1 || rows[1].ID != 3 || rows[1].Held {
			t.Errorf("vjobs %+v\n%s", rows, log)
		}
		if err := store.Check(); err != nil {
			t.Error(err)
		}
		if strings.Contains(log, "commit failed") || strings.Count(log, "old history deleted") != 2 {
			t.Errorf("log:\n%s", log)
		}
	})
}

func TestNoPrune(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &prunedStore{Store: simstore.Open(t)}
		pruning(t, s, 0, func(*scheduler.Loop) { time.Sleep(24 * time.Hour) })
		if len(s.prunes) > 0 {
			t.Errorf("prunes %+v", s.prunes)
		}
	})
}
