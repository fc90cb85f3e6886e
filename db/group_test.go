package db_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/db"
	"vjob/tests/storetest"
)

func TestConcurrentSubmissions(t *testing.T) {
	const clients, each = 16, 20
	d := newDB(t)
	var mu sync.Mutex
	var ids []cluster.VJobID
	refused := 0
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for i := range each {
				s := storetest.Submission(fmt.Sprintf("shared-%d", i), 1) // of each name one wins
				if client%2 == 0 {
					s.Name = ""
				}
				job, _, err := d.Submit(t.Context(), s)
				mu.Lock()
				switch {
				case err == nil:
					ids = append(ids, job.ID)
				case errors.Is(err, cluster.ErrConflict):
					refused++
				default:
					t.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(ids)
	if want := clients/2*each + each; len(slices.Compact(ids)) != want || refused != clients*each-want {
		t.Errorf("%d accepted and %d refused, want %d accepted", len(ids), refused, want)
	}
	rows, total, err := d.VJobs(t.Context(), journal.Filter{})
	if err != nil || total != len(ids) {
		t.Fatalf("%d vjobs are kept, %d were acknowledged, %v", total, len(ids), err)
	}
	for i, r := range rows {
		if r.ID != ids[i] {
			t.Fatalf("vjob %s was not acknowledged", r.ID)
		}
	}
	if err := d.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOneKeyFromManyClients(t *testing.T) {
	d := newDB(t)
	s := storetest.Submission("once", 2)
	s.Key = "k"
	var created, ids sync.Map
	var all sync.WaitGroup
	for client := range 12 {
		all.Go(func() {
			job, first, err := d.Submit(t.Context(), s)
			if err != nil {
				t.Error(err)
				return
			}
			ids.Store(job.ID, true)
			if first {
				created.Store(client, true)
			}
		})
	}
	all.Wait()
	if n, m := size(&created), size(&ids); n != 1 || m != 1 {
		t.Errorf("%d were told that they created it, %d numbers", n, m)
	}
}

func size(m *sync.Map) (n int) {
	m.Range(func(any, any) bool { n++; return true })
	return n
}

// TestDiskFull fills the disk and frees it again: only what was written was acknowledged, and
// later writes succeed.
func TestDiskFull(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	var pages int
	if err := d.Query(ctx, "PRAGMA page_count", &pages); err != nil {
		t.Fatal(err)
	}
	if err := d.Pragma(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages+20)); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	acknowledged := 0
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for {
				_, _, err := d.Submit(ctx, storetest.Submission("", 8))
				if errors.Is(err, cluster.ErrUnavailable) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				acknowledged++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	var err error
	for err == nil { // a batch failed as a whole, so that a single one may still fit
		if _, _, err = d.Submit(ctx, storetest.Submission("", 8)); err == nil {
			acknowledged++
		}
	}
	wants(t, err, "disk", "full", "unavailable")
	if _, total, err := d.VJobs(ctx, journal.Filter{}); err != nil || total != acknowledged || total == 0 {
		t.Errorf("%d are kept, %d were acknowledged, %v", total, acknowledged, err)
	}
	if err := d.Pragma(ctx, "PRAGMA max_page_count = 1073741823"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Submit(ctx, storetest.Submission("", 8)); err != nil {
		t.Error(err)
	}
	if err := d.Check(ctx); err != nil {
		t.Error(err)
	}
}

// TestCancelWhileWaiting blocks the writer and cancels a write that waits.
func TestCancelWhileWaiting(t *testing.T) {
	d := newDB(t)
	hold := make(chan struct{})
	held := d.Hold(hold)
	ctx, cancel := context.WithCancel(t.Context())
	answers := make(chan error)
	go func() {
		_, _, err := d.Submit(ctx, storetest.Submission("late", 1))
		answers <- err
	}()
	cancel()
	if err := <-answers; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	close(hold)
	if err := <-held; err != nil {
		t.Fatal(err)
	}
	if _, total, err := d.VJobs(t.Context(), journal.Filter{}); err != nil || total != 0 {
		t.Errorf("%d vjobs, %v", total, err)
	}
}

// TestCancelledCallersPassTheLeadOn ends callers at any moment, also when they have just been chosen to lead the next batch: the
// others go on, and what was acknowledged is there.
func TestCancelledCallersPassTheLeadOn(t *testing.T) {
	const clients, each = 8, 60
	d, seed := newDB(t), uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	var acknowledged atomic.Int64
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(client)))
			for range each {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(3_000_000)))
				_, _, err := d.Submit(ctx, storetest.Submission("", 1))
				cancel()
				switch {
				case err == nil:
					acknowledged.Add(1)
				case !errors.Is(err, context.DeadlineExceeded):
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	submitted(t)(d.Submit(t.Context(), storetest.Submission("", 1)))
	if _, total, err := d.VJobs(t.Context(), journal.Filter{}); err != nil || int64(total) <= acknowledged.Load() {
		t.Errorf("%d are kept, %d and the last one were acknowledged, %v", total, acknowledged.Load(), err)
	}
	if err := d.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestAPanicRollsBack has a write panic in its caller, which recovers, as a handler of HTTP does: nothing of it stays, and the next
// write succeeds.
func TestAPanicRollsBack(t *testing.T) {
	d := newDB(t)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_ = d.Panic(t.Context())
	}()
	submitted(t)(d.Submit(t.Context(), storetest.Submission("", 1)))
	if err := d.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestCloseJoins fails if a goroutine is left: a synctest bubble ends only without goroutines.
func TestCloseJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := must[*db.DB](t)(db.Open(filepath.Join(t.TempDir(), "vjob.db")))
		submitted(t)(d.Submit(t.Context(), storetest.Submission("", 1)))
		loaded(t, d)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestCloseWhileWaiting(t *testing.T) {
	d := newDB(t)
	hold := make(chan struct{})
	held := d.Hold(hold)
	answers := make(chan error, 4)
	for range cap(answers) {
		go func() {
			_, _, err := d.Submit(t.Context(), storetest.Submission("", 1))
			answers <- err
		}()
	}
	closed := make(chan error)
	go func() { closed <- d.Close() }()
	time.Sleep(time.Millisecond) // either order is right
	close(hold)
	if err := errors.Join(<-held, <-closed); err != nil {
		t.Fatal(err)
	}
	for range cap(answers) { // each one is answered, well or not
		if err := <-answers; err != nil && !errors.Is(err, cluster.ErrUnavailable) {
			t.Error(err)
		}
	}
}

// TestNumbersOutliveTheirVJobs deletes the newest vjob behind the store's back.
func TestNumbersOutliveTheirVJobs(t *testing.T) {
	d := newDB(t)
	submitted(t)(d.Submit(t.Context(), storetest.Submission("", 1)))
	last := submitted(t)(d.Submit(t.Context(), storetest.Submission("", 1)))
	for _, table := range []string{"vms WHERE vjob", "gangs WHERE vjob", "vjobs WHERE id"} {
		if err := d.Exec(t.Context(), "DELETE FROM "+table+" = ?", int64(last.ID)); err != nil {
			t.Fatal(err)
		}
	}
	if next := submitted(t)(d.Submit(t.Context(), storetest.Submission("", 1))); next.ID <= last.ID {
		t.Errorf("number %s was given again", next.ID)
	}
}
