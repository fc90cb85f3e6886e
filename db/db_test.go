package db_test

import (
	"path/filepath"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/db"
	"vjob/tests/storetest"
)

// newDB opens a database in a directory of the test.
func newDB(tb testing.TB) *db.DB {
	tb.Helper()
	return openDB(tb, filepath.Join(tb.TempDir(), "vjob.db"))
}

func openDB(tb testing.TB, path string) *db.DB {
	tb.Helper()
	d, err := db.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := d.Close(); err != nil {
			tb.Error(err)
		}
	})
	return d
}

// must returns a value or ends the test.
func must[T any](tb testing.TB) func(T, error) T {
	tb.Helper()
	return func(v T, err error) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) *storetest.World {
		t.Helper()
		path := filepath.Join(t.TempDir(), "vjob.db")
		d := openDB(t, path)
		return &storetest.World{
			Store: d,
			Reopen: func() storetest.Store {
				if err := d.Close(); err != nil {
					t.Fatal(err)
				}
				d = openDB(t, path)
				return d
			},
			Events: func(after int64) []journal.Event {
				return must[[]journal.Event](t)(d.Events(t.Context(), journal.EventFilter{After: after}))
			},
			Kept: func(id cluster.VJobID) journal.Kept { return must[journal.Kept](t)(d.VJob(t.Context(), id)) },
			Plan: func(id journal.PlanID) journal.PlanDetail {
				return must[journal.PlanDetail](t)(d.Plan(t.Context(), id))
			},
			Counts: func() journal.Pruned { return counts(t, d) },
			Totals: func() []journal.Total { return must[[]journal.Total](t)(d.Totals(t.Context())) },
			Energy: func(f journal.EnergyFilter) []journal.EnergyRow {
				return must[[]journal.EnergyRow](t)(d.Energy(t.Context(), f))
			},
			Report: func(f journal.ReportFilter) journal.Report { return must[journal.Report](t)(d.Report(t.Context(), f)) },
			Alarms: func(f journal.AlarmFilter) []journal.Alarm { return must[[]journal.Alarm](t)(d.Alarms(t.Context(), f)) },
			Check:  func() error { return d.Check(t.Context()) },
		}
	})
}

// counts is how many of each kind of history there are.
func counts(tb testing.TB, d *db.DB) (n journal.Pruned) {
	tb.Helper()
	for table, count := range map[string]*int{"events": &n.Events, "intents": &n.Calls, "plans": &n.Plans, "vjobs": &n.VJobs, "charges": &n.Charges, "alarms": &n.Alarms} {
		if err := d.Query(tb.Context(), "SELECT count(*) FROM "+table, count); err != nil {
			tb.Fatal(err)
		}
	}
	var nodes, vjobs, hours, runs int
	for table, count := range map[string]*int{"node_hours": &nodes, "vjob_hours": &vjobs, "usage_hours": &hours, "discarded_runs": &runs} {
		if err := d.Query(tb.Context(), "SELECT count(*) FROM "+table, count); err != nil {
			tb.Fatal(err)
		}
	}
	n.Energy, n.Usage = nodes+vjobs, hours+runs
	return n
}

// submitted is must for Submit.
func submitted(tb testing.TB) func(*cluster.VJob, bool, error) *cluster.VJob {
	tb.Helper()
	return func(job *cluster.VJob, _ bool, err error) *cluster.VJob {
		tb.Helper()
		return must[*cluster.VJob](tb)(job, err)
	}
}

func loaded(tb testing.TB, d *db.DB) journal.Loaded {
	tb.Helper()
	return must[journal.Loaded](tb)(d.Load(tb.Context()))
}
