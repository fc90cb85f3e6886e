package forecast_test

import (
	"testing"

	"vjob/cluster"
	"vjob/queue/forecast"
)

// after adds dependencies to a vjob.
func after(j forecast.Job, ties ...forecast.Dependency) forecast.Job {
	j.Stuck, j.After = true, ties
	return j
}

func inArray(j forecast.Job, array cluster.VJobID) forecast.Job {
	j.Array = array
	return j
}

// A vjob with dependencies has a forecast once these have one.
func TestAfterOthers(t *testing.T) {
	held := job(7, 1, 10)
	held.Stuck, held.Reason = true, "is held"
	jobs := []forecast.Job{
		after(job(6, 2, 10), forecast.Dependency{On: 5}), // a chain, whatever the order
		runs(job(1, 8, 30)),
		job(2, 8, 60),
		after(job(3, 4, 10), forecast.Dependency{On: 1}, forecast.Dependency{On: 2, Start: true}),
		inArray(runs(job(4, 1, 20)), 4),
		after(job(5, 2, 10), forecast.Dependency{On: 4, Array: true}),
		held,
		after(job(8, 1, 10), forecast.Dependency{On: 1}, forecast.Dependency{On: 7}),
		after(job(9, 1, 10), forecast.Dependency{On: 99}),
		runs(job(10, 1, 0)),
		after(job(11, 1, 10), forecast.Dependency{On: 10}),
		after(job(12, 1, 10), forecast.Dependency{On: 10, Start: true}, forecast.Dependency{On: 99}),
	}
	want := []string{
		"12:30 12:40 waits: it is 6; that is foretold for 12:30",
		"12:00 12:30 runs",
		"12:30 13:30 waits: it is 2; 1 ends at 12:30: then there is room",
		"13:30 13:40 waits: it is 3; that is foretold for 12:30",
		"12:00 12:20 runs",
		"12:20 12:30 waits: it is 5; that is foretold for 12:20",
		"- - is held",
		"- - waits: it is 8",
		"- - waits: it is 9",
		"12:00 - runs",
		"- - waits: it is 11",
		"12:20 12:30 waits: it is 12; that is foretold for 12:00",
	}
	for i, b := range forecast.Compute(&forecast.Scene{Now: noon, Total: cpus(12), Jobs: jobs}).Estimates {
		if got := clock(b.Start) + " " + clock(b.End) + " " + b.Why(); got != want[i] {
			t.Errorf("%d:\n got %s\nwant %s", jobs[i].ID, got, want[i])
		}
	}
}
