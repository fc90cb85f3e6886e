package db_test

import (
	"slices"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/tests/storetest"
)

// The vjobs that keep their output in files are listed from their start until the files are complete, those of arrays and
// next attempts as well.
func TestOpenOutputs(t *testing.T) {
	d := newDB(t)
	plain := storetest.Submission("", 1)
	kept := storetest.Submission("", 1)
	kept.Output, kept.Idempotent = "%j.out", true
	array := storetest.Submission("", 1)
	array.Error, array.Array = "%j.err", []string{"", ""}
	submitted(t)(d.Submit(t.Context(), plain))
	submitted(t)(d.Submit(t.Context(), kept))
	submitted(t)(d.Submit(t.Context(), array))
	want := func(when string, ids ...cluster.VJobID) {
		t.Helper()
		list := must[[]journal.OpenOutput](t)(d.OpenOutputs(t.Context()))
		got := make([]cluster.VJobID, len(list))
		for i, o := range list {
			got[i] = o.VJob
			if o.Owner != kept.Owner || o.Ended != (o.VJob == 2) {
				t.Errorf("%s: %+v", when, o)
			}
		}
		if !slices.Equal(got, ids) {
			t.Errorf("%s: %v, want %v", when, got, ids)
		}
	}
	want("before they start")
	runSQL(t, d, "UPDATE vjobs SET started_ns = 1")
	runSQL(t, d, "UPDATE vjobs SET ended_ns = 2, state = 'failed' WHERE id = 2")
	want("started", 2, 3, 4)
	if err := d.CloseOutput(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	want("complete", 3, 4)
	if err := d.Commit(t.Context(), journal.Step{Again: []journal.Attempt{{Of: 2, At: storetest.Start}}}); err != nil {
		t.Fatal(err)
	}
	runSQL(t, d, "UPDATE vjobs SET started_ns = 1")
	want("the next attempt", 3, 4, 5)
}
