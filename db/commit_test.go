package db_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/tests/storetest"
)

// spoil makes the commit of its transaction fail, as a full disk does: it refers to a missing
// row, which SQLite notices only at the end.
const spoil = `PRAGMA defer_foreign_keys = ON;
INSERT INTO gangs (vjob, phase, continuation, incarnation, generation, restores, losses, cause, skew_ns)
VALUES (999999, 'absent', '', 0, 0, 0, 0, '', 0)`

// All callers with a write in a failed commit get its error: nothing is acknowledged that is
// not stored. Later writes succeed.
func TestACommitThatFails(t *testing.T) {
	d := newDB(t)
	if err := d.Exec(t.Context(), spoil); err == nil || !strings.HasPrefix(err.Error(), "commit: ") {
		t.Fatalf("a commit that failed is acknowledged, or it was not the commit: %v", err)
	}
	var mu sync.Mutex
	var acknowledged []cluster.VJobID
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				job, _, err := d.Submit(t.Context(), storetest.Submission("", 1))
				if err != nil {
					continue // it shared the transaction
				}
				mu.Lock()
				acknowledged = append(acknowledged, job.ID)
				mu.Unlock()
			}
		})
	}
	all.Go(func() {
		for range 20 {
			if err := d.Exec(t.Context(), spoil); err == nil {
				t.Error("a commit that failed is acknowledged")
			}
		}
	})
	all.Wait()
	rows, _, err := d.VJobs(t.Context(), journal.Filter{Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	kept := make([]cluster.VJobID, len(rows))
	for i, r := range rows {
		kept[i] = r.ID
	}
	slices.Sort(acknowledged)
	slices.Sort(kept)
	if !slices.Equal(acknowledged, kept) {
		t.Errorf("%d are acknowledged and %d kept", len(acknowledged), len(kept))
	}
	if err := d.Check(t.Context()); err != nil {
		t.Error(err)
	}
}
