package db_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/tests/storetest"
)

// Terms of older versions, with durations in nanoseconds and without the default condition of a dependency,
// are read as they were meant.
func TestTermsOfOlderVersions(t *testing.T) {
	d := newDB(t)
	submitted(t)(d.Submit(t.Context(), storetest.Submission("first", 1)))
	submitted(t)(d.Submit(t.Context(), storetest.Submission("old", 1)))
	const old = `{"queue":"night","min_run":90000000000,"flexible":3600000000000,"after":[{"on":1}]}`
	if err := d.Exec(t.Context(), "UPDATE specs SET json = json_set(json, '$.terms', json(?)) WHERE spec = (SELECT max(spec) FROM specs)", old); err != nil {
		t.Fatal(err)
	}
	kept, err := d.VJob(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	rows, _, err := d.VJobs(t.Context(), journal.Filter{Name: "old", Terms: true})
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	for _, terms := range []*cluster.Terms{kept.Terms, rows[0].Terms} {
		if terms.MinRun != cluster.Seconds(90*time.Second) || terms.Flexible != cluster.Seconds(time.Hour) || len(terms.After) != 1 || terms.After[0] != (cluster.Dependency{On: 1}) {
			t.Errorf("%+v", terms)
		}
	}
}
