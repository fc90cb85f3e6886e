package scheduler_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/scheduler"
)

// What a vjob was suspended for stays after later decisions, and what it waits for is said once.
func TestWhy(t *testing.T) {
	preempted := &cluster.Cause{
		Kind: cluster.CausePreempted, VJobs: []cluster.VJobRef{{ID: 3, Name: "high", Owner: "bob"}}, Short: cluster.Resources{CPU: 4000},
	}
	now := time.Date(2026, 11, 23, 14, 30, 0, 0, time.UTC)
	since, resumes := now.Add(-28*time.Minute), now.Add(40*time.Minute)
	for _, c := range []struct {
		status        scheduler.VJobStatus
		viewer, reads string
	}{
		{
			scheduler.VJobStatus{State: cluster.Suspended, Cause: preempted, Place: 1, Start: resumes, Reason: "waits: needs 4 CPU more; 1st in line"},
			"",
			"suspended 14:02 to make room for 3 high (bob): 4 CPU short; 1st in line, resumes 15:10 at the latest",
		},
		{
			scheduler.VJobStatus{State: cluster.Suspended, Cause: preempted, Place: 1, Reason: "waits: needs 4 CPU more; 1st in line"},
			"ann",
			"suspended 14:02 to make room for a vjob of another user: 4 CPU short; 1st in line",
		},
		{scheduler.VJobStatus{State: cluster.Suspending, Cause: preempted, Reason: "saves"}, "bob", "suspending to make room for 3 high: 4 CPU short; saves"},
		{
			scheduler.VJobStatus{State: cluster.Suspended, Held: true, Cause: &cluster.Cause{Kind: cluster.CauseOrder, By: "ann", Text: "suspended"}, Reason: "is suspended by ann"},
			"ann",
			"suspended 14:02 by ann",
		},
		{scheduler.VJobStatus{State: cluster.Waiting, Cause: &cluster.Cause{Kind: cluster.CauseSubmitted}, Reason: "waits: needs 4 CPU more; 1st in line"}, "", "waits: needs 4 CPU more; 1st in line"},
		{scheduler.VJobStatus{State: cluster.Running, Cause: &cluster.Cause{Kind: cluster.CauseRoom}, Reason: "runs"}, "", "runs"},
		{scheduler.VJobStatus{State: cluster.Running, Cause: &cluster.Cause{Kind: cluster.CauseRoom}}, "", "running 14:02: there is room"},
	} {
		c.status.Gang = gang.Record{Since: since}
		if got := c.status.Why(c.viewer, now); got != c.reads {
			t.Errorf("%s for %q:\n got %q\nwant %q", c.status.State, c.viewer, got, c.reads)
		}
	}
}
