package replay

import (
	"errors"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/db"
)

// What only a restart or a report reads is dropped. A commit that fails is not forgotten.
func TestForgetfulStore(t *testing.T) {
	store, err := db.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	f, ctx := &forgetful{DB: store}, t.Context()
	unread := journal.Step{Gangs: []gang.Record{{VJob: 7}}, Events: []journal.Event{{Kind: journal.EventPlan, Text: "planned"}}}
	if err := f.Commit(ctx, unread); err != nil || f.failed != nil {
		t.Errorf("%v, %v: the gang of an unknown vjob was written", err, f.failed)
	}
	if err := f.Commit(ctx, journal.Step{VJobs: []journal.VJobChange{{ID: 7}}}); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("%v for an unknown vjob", err)
	}
	if err := f.Commit(ctx, unread); err != nil || !errors.Is(f.failed, cluster.ErrNotFound) {
		t.Errorf("%v, %v after a commit that failed", err, f.failed)
	}
}
