package scheduler_test

import (
	"testing"
	"time"

	"vjob/cluster"
)

// window is a vjob of an hour on one processor.
func window(id cluster.VJobID, at time.Time, notBefore, notAfter time.Duration) *cluster.VJob {
	job := flexible(id, at)
	job.Flexible = 0
	if notBefore != 0 {
		job.NotBefore = at.Add(notBefore)
	}
	if notAfter != 0 {
		job.NotAfter = at.Add(notAfter)
	}
	return job
}

// A vjob that is not to start before an instant says so, is foreseen to start then, and
// does; one that is to have started by an instant and has not then fails, held or not. Time
// alone brings both about.
func TestVJobsStartWithinTheirWindows(t *testing.T) {
	l := state2()
	r := mount(t, lit(&l), l)
	r.drain()
	held := window(5, r.now, 0, 2*time.Hour)
	held.Held = true
	attempt := window(7, r.now, 3*time.Hour, time.Hour)
	attempt.Attempts = 1 // the first of them started in time
	r.core.VJobs.Submitted(r.now, window(3, r.now, 90*time.Minute, 0), window(4, r.now, 0, time.Hour), held, window(6, r.now, 0, -time.Hour), attempt)
	r.at(time.Second)
	if r.started(3) || !r.started(4) || r.started(5) || r.started(6) {
		t.Fatalf("started: 3 %v, 4 %v, 5 %v, 6 %v", r.started(3), r.started(4), r.started(5), r.started(6))
	}
	s := r.core.Snapshot().VJob(3)
	if want := "waits: until 2026-01-01 01:30:00 UTC, as it was asked for"; s.Reason != want || !s.Start.Equal(epoch.Add(90*time.Minute)) {
		t.Errorf("it says %q from %s, want %q", s.Reason, s.Start, want)
	}
	if _, live := r.core.Snapshot().VJobs.Get(6); live {
		t.Error("what was to have started before it was submitted waits")
	}
	answer, err := r.core.Forecast(r.now)
	if err != nil {
		t.Fatal(err)
	}
	for i, job := range answer().VJobs {
		if b := answer().Estimates[i]; job.ID == 3 && !b.Start.Equal(epoch.Add(90*time.Minute)) {
			t.Errorf("foreseen from %s: %s", b.Start, b.Why())
		}
	}
	if r.at(90*time.Minute - time.Second); r.started(3) {
		t.Error("it has started too early")
	}
	if r.at(90*time.Minute + time.Second); !r.started(3) {
		t.Errorf("it has not started at its time: %s", r.core.Snapshot().VJob(3).Reason)
	}
	if s, live := r.core.Snapshot().VJobs.Get(5); !live || !s.Held {
		t.Error("what is held has not waited until its time is over")
	}
	r.at(100 * time.Minute) // all that was begun is over
	r.at(2*time.Hour + time.Second)
	if s, live := r.core.Snapshot().VJobs.Get(5); live {
		t.Errorf("its time is over, and it is %s", s.State)
	}
	if !r.failed(5, "it will never run: it was to start by 2026-01-01 02:00:00 UTC") {
		t.Errorf("changes: %+v", r.changes)
	}
	if r.at(3*time.Hour + time.Second); !r.started(7) {
		t.Error("another attempt is bound by the time of the first")
	}
}
