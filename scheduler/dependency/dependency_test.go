package dependency_test

import (
	"fmt"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/dependency"
)

// family is a set of waiting vjobs that reports ends to the tracker.
type family struct {
	jobs     map[cluster.VJobID]*cluster.VJob
	register *dependency.Tracker
	said     map[cluster.VJobID]string
}

func (f *family) Job(id cluster.VJobID) (execute.Report, bool) {
	job, live := f.jobs[id]
	return execute.Report{Job: job, Record: &gang.Record{}}, live
}

func (f *family) Members(cluster.VJobID) []execute.Report { return nil }

func (f *family) Clear(_ time.Time, id cluster.VJobID, _ gang.Then, cause *cluster.Cause) error {
	delete(f.jobs, id)
	f.said[id] = cause.Why(cluster.Waiting)
	f.register.Note(journal.EndedVJob{ID: id, Outcome: cluster.Broken})
	return nil
}

func (f *family) Hold(_ time.Time, id cluster.VJobID, _ bool, cause *cluster.Cause) error {
	f.said[id] = cause.Why(cluster.Waiting)
	return nil
}

// waits adds a vjob that waits for another to end well.
func (f *family) waits(id, on cluster.VJobID, unmet cluster.Unmet) {
	job := &cluster.VJob{ID: id, Terms: &cluster.Terms{}}
	job.After, job.Unmet = []cluster.Dependency{{On: on, When: cluster.AfterOK}}, unmet
	f.jobs[id] = job
	f.register.Wait(id)
}

func newFamily() *family {
	return &family{jobs: map[cluster.VJobID]*cluster.VJob{}, register: dependency.New(&journal.Loaded{}), said: map[cluster.VJobID]string{}}
}

// If the work of a vjob failed, the vjob has not ended well, and the reason tells its exit status.
func TestFailedWork(t *testing.T) {
	f := newFamily()
	f.register.Note(journal.EndedVJob{ID: 1, Outcome: cluster.Unsuccessful, Exit: cluster.Exited(3), Started: true})
	f.waits(2, 1, cluster.UnmetFails)
	f.register.Settle(time.Time{}, f)
	if want := "vjob 1, for which it waits to end well, has failed with exit status 3:0"; f.said[2] != want {
		t.Errorf("%q, want %q", f.said[2], want)
	}
}

// A dependency that can never be met is passed on at once, until a vjob runs or is held.
func TestUnmetGoesOn(t *testing.T) {
	f := newFamily()
	f.register.Note(journal.EndedVJob{ID: 1, Outcome: cluster.WalltimeExceeded})
	f.waits(4, 3, cluster.UnmetFails) // 4 waits for 3, 3 for 2, 2 for 1: none of them ends well
	f.waits(3, 2, cluster.UnmetFails)
	f.waits(2, 1, cluster.UnmetFails)
	f.waits(5, 4, cluster.UnmetHolds)
	f.waits(6, 4, cluster.UnmetRuns)
	f.waits(7, 6, cluster.UnmetFails) // 6 is still to come
	freed := f.register.Settle(time.Time{}, f)
	if fmt.Sprint(freed) != "[5 6]" {
		t.Errorf("freed: %v", freed)
	}
	for id, want := range map[cluster.VJobID]string{
		2: "vjob 1, for which it waits to end well, ran over its walltime",
		3: "vjob 2, for which it waits to end well, has failed",
		4: "vjob 3, for which it waits to end well, has failed",
		5: "vjob 4, for which it waits to end well, has failed",
		6: "", 7: "",
	} {
		if f.said[id] != want {
			t.Errorf("vjob %s: %q, want %q", id, f.said[id], want)
		}
	}
	if w := f.register.Waiting(); len(w) != 1 || w[7] != "for vjob 6 to end well" {
		t.Errorf("waiting: %v", w)
	}
}

// Of the vjobs that ended long ago only dependencies of waiting ones are remembered.
func TestForgets(t *testing.T) {
	f := newFamily()
	f.jobs[100_001] = &cluster.VJob{ID: 100_001, Terms: &cluster.Terms{}}
	f.waits(100_002, 3, cluster.UnmetFails)
	f.jobs[100_002].After = append(f.jobs[100_002].After, cluster.Dependency{On: 100_001, When: cluster.AfterOK})
	for id := range cluster.VJobID(30_000) {
		f.register.Note(journal.EndedVJob{ID: id + 1, Outcome: cluster.Completed})
	}
	if freed := f.register.Settle(time.Time{}, f); len(freed) > 0 {
		t.Errorf("freed: %v", freed)
	}
	for id, want := range map[cluster.VJobID]bool{2: false, 3: true, 9_999: false, 30_000: true} {
		if f.register.Ended(id) != want {
			t.Errorf("that vjob %s has ended is known: %t", id, !want)
		}
	}
	f.register.Note(journal.EndedVJob{ID: 100_001, Outcome: cluster.Completed})
	if freed := f.register.Settle(time.Time{}, f); fmt.Sprint(freed) != "[100002]" {
		t.Errorf("freed: %v", freed)
	}
}

// Where no vjob waits for another, those that ended are forgotten as well.
func TestForgetsWithoutDependencies(t *testing.T) {
	f := newFamily()
	for id := range cluster.VJobID(30_000) {
		f.register.Note(journal.EndedVJob{ID: id + 1, Outcome: cluster.Completed})
	}
	f.register.Settle(time.Time{}, f)
	if f.register.Ended(1) || !f.register.Ended(30_000) {
		t.Errorf("that the first has ended is known: %t, the last: %t", f.register.Ended(1), f.register.Ended(30_000))
	}
}
