package storetest

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/admission"
)

// after is a submission of one VM with dependencies.
func after(name string, on ...cluster.Dependency) admission.Submission {
	s := Submission(name, 1)
	s.After = on
	return s
}

// ends ends a vjob with an outcome.
func (w *World) ends(t *testing.T, id cluster.VJobID, how cluster.Outcome) {
	t.Helper()
	state := cluster.Terminated
	if how == cluster.Broken {
		state = cluster.Failed
	}
	w.commit(t, journal.Step{VJobs: []journal.VJobChange{{ID: id, State: state, Outcome: how, Version: 1, Ended: Start}}})
}

func testDependencies(t *testing.T, w *World) {
	w.submit(t, Submission("first", 1))
	w.submit(t, array(2, 1)) // 2 and 3
	w.submit(t, after("second", cluster.Dependency{On: 1}, cluster.Dependency{On: 2, When: cluster.AfterAny, Array: true}, cluster.Dependency{On: 1, When: cluster.AfterAny}))
	many := after("", cluster.Dependency{On: 4})
	many.Array = make([]string, 3)
	w.submit(t, many) // 5, 6 and 7
	for _, again := range []string{"at once", "after a restart"} {
		l := w.load(t)
		same(t, "vjobs with dependencies "+again, l.Waits, []cluster.VJobID{4, 5, 6, 7})
		same(t, "what has ended "+again, l.Past, []journal.EndedVJob{})
		same(t, "terms "+again, l.VJobs[3].After, w.Kept(4).After)
		w.reopen()
	}
	w.commit(t, journal.Step{Freed: []cluster.VJobID{4, 6}})
	w.ends(t, 5, cluster.Deleted)
	w.reopen()
	same(t, "vjobs with dependencies at last", w.load(t).Waits, []cluster.VJobID{7})
}

func testBadDependencies(t *testing.T, w *World) {
	w.submit(t, Submission("first", 1))
	bobs := Submission("first", 1)
	bobs.Owner = "bob"
	w.submit(t, bobs)
	for what, d := range map[string]cluster.Dependency{
		"one that is not there":     {On: 7},
		"itself":                    {On: 3},
		"another user's":            {On: 2},
		"not an array":              {On: 1, Array: true},
		"an array that is not here": {On: 9, Array: true},
	} {
		_, _, err := w.Submit(t.Context(), after("second", cluster.Dependency{On: 1}, d))
		isError(t, what, err, cluster.ErrInvalid)
	}
	same(t, "vjobs", len(w.load(t).VJobs), 2)
}

func testPast(t *testing.T, w *World) {
	for _, name := range []string{"a", "b", "c", "d"} {
		w.submit(t, Submission(name, 1))
	}
	w.submit(t, array(3, 1)) // 5, 6 and 7
	w.submit(t, after("waits", cluster.Dependency{On: 1}, cluster.Dependency{On: 2}, cluster.Dependency{On: 5, Array: true}))
	w.commit(t, journal.Step{VJobs: []journal.VJobChange{{ID: 1, State: cluster.Terminated, Outcome: cluster.WalltimeExceeded, Version: 9, Started: Start, Ended: Start}}})
	w.ends(t, 3, cluster.Deleted)
	w.ends(t, 6, cluster.Broken)
	want := []journal.EndedVJob{
		{ID: 1, Outcome: cluster.WalltimeExceeded, Started: true},
		{ID: 6, Array: 5, Outcome: cluster.Broken},
	}
	same(t, "of all", w.load(t).Past, want)
	got, err := w.Past(t.Context(), []cluster.Dependency{{On: 3}, {On: 4}, {On: 6}, {On: 5}})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "of some", got, []journal.EndedVJob{{ID: 3, Outcome: cluster.Deleted}, want[1]})
}

func testPruneAwaited(t *testing.T, w *World) {
	w.submit(t, Submission("first", 1))
	w.submit(t, array(2, 1)) // 2 and 3
	w.submit(t, Submission("independent", 1))
	w.submit(t, after("waits", cluster.Dependency{On: 1}, cluster.Dependency{On: 2, Array: true}))
	for id := range cluster.VJobID(4) {
		w.ends(t, id+1, cluster.Completed)
	}
	prune := func() (n int) {
		for done, err := range w.Prune(t.Context(), journal.Horizon{VJobs: Start.Add(time.Hour)}) {
			if err != nil {
				t.Fatal(err)
			}
			n += done.VJobs
		}
		return n
	}
	same(t, "deleted while one waits", prune(), 1)
	same(t, "known", len(w.load(t).Past), 3)
	w.commit(t, journal.Step{Freed: []cluster.VJobID{5}})
	same(t, "deleted when it does not", prune(), 3)
}

// failing fails a vjob and requests another attempt.
func failing(id cluster.VJobID) journal.Step {
	return journal.Step{
		VJobs:  []journal.VJobChange{{ID: id, State: cluster.Failed, Outcome: cluster.Broken, Version: 1, Cause: cluster.Because("bad luck"), Ended: Start}},
		Again:  []journal.Attempt{{Of: id, At: Start.Add(time.Minute), Text: "once more"}},
		Events: []journal.Event{{At: Start, Kind: journal.EventState, VJob: id, State: "failed", Text: "bad luck"}},
	}
}

func testAttempts(t *testing.T, w *World) {
	s := array(2, 3)
	s.Idempotent, s.Origin = true, cluster.Origin{From: "192.0.2.7", Token: "laptop"}
	first := w.submit(t, s) // 1 and 2
	w.submit(t, after("waits", cluster.Dependency{On: 2}, cluster.Dependency{On: 1, Array: true}))
	w.commit(t, failing(2))

	want := s.VJobs(first.ID)[1]
	want.ID, want.Replaces, want.Attempts, want.Submitted, want.Cause = 4, 2, 1, Start.Add(time.Minute), cluster.Because("once more")
	for rank := range want.VMs {
		want.VMs[rank].ID.VJob = 4
	}
	for _, again := range []string{"at once", "after a restart"} {
		jobs, err := w.Attempts(t.Context(), []cluster.VJobID{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "attempts "+again, jobs, []*cluster.VJob{want})
		l := w.load(t)
		same(t, "it lives "+again, l.VJobs[2], want)
		g := gang.Record{VJob: 4, Since: want.Submitted, Members: make([]gang.Member, 3)}
		same(t, "its gang "+again, l.Gangs[2], g)
		same(t, "the past "+again, l.Past, []journal.EndedVJob{{ID: 2, Array: 1, Outcome: cluster.Broken, Again: true, Next: 4}})
		same(t, "vjobs with dependencies "+again, l.Waits, []cluster.VJobID{3})
		w.reopen()
	}
	w.commit(t, failing(4))
	jobs, err := w.Attempts(t.Context(), []cluster.VJobID{4})
	if err != nil || len(jobs) != 1 || jobs[0].Attempts != 2 || jobs[0].Replaces != 4 {
		t.Errorf("the third attempt: %+v, %v", jobs, err)
	}
	same(t, "the past of both", w.load(t).Past, []journal.EndedVJob{
		{ID: 2, Array: 1, Outcome: cluster.Broken, Again: true, Next: 4},
		{ID: 4, Array: 1, Outcome: cluster.Broken, Again: true, Next: 5},
	})
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// A rejected step leaves no trace of an attempt, and does not use up its number.
func testAttemptUndone(t *testing.T, w *World) {
	s := Submission("job", 2)
	w.submit(t, s)
	before := w.load(t)
	step := failing(1)
	step.Usage = []journal.Usage{{VJob: 99, Running: 1}}
	isError(t, "a step that is refused", w.Commit(t.Context(), step), cluster.ErrNotFound)
	after := w.load(t)
	after.Epoch = before.Epoch
	same(t, "what is there", after, before)
	w.submit(t, Submission("other", 1))
	w.commit(t, failing(1))
	same(t, "vjobs", len(w.load(t).VJobs), 2)
	w.reopen()
	_, _, err := w.Submit(t.Context(), s)
	isError(t, "the name", err, cluster.ErrConflict)
}
