package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/admission"
)

func testEmpty(t *testing.T, w *World) {
	l := w.load(t)
	same(t, "first load", l, journal.Loaded{Epoch: 1, NextOp: 1, NextPlan: 1, NextRecommendation: 1, NextAlarm: 1})
	if l.Ran == nil {
		t.Error("Ran is nil: the loop writes into it")
	}
	w.reopen()
	same(t, "epoch after a restart", w.load(t).Epoch, int64(2))
}

func testSubmission(t *testing.T, w *World) {
	s := Submission("whole", 3)
	s.Key, s.Held = "k", true
	s.VMs[1].Payload = &cluster.Payload{Image: "sim", Script: "a\nb", Program: &cluster.Program{Steps: []cluster.Step{
		{CPU: 1000, Duration: time.Minute, After: []cluster.StepRef{{Rank: 2, Index: 1}}},
	}}}
	s.Rules = "continuous spread($VMS);\nban({VM2, VM0}, n1);"
	s.Terms = cluster.Terms{
		Queue: "night", Project: "physics", Deadline: Start.Add(time.Hour), MinShare: 0.5,
		BestEffort: true, Preemption: cluster.ByEnd, MinRun: cluster.Seconds(time.Minute), Flexible: cluster.Seconds(time.Hour), NotBefore: Start.Add(time.Second), NotAfter: Start.Add(time.Hour), Reservation: Start.Add(time.Minute),
		Unmet: cluster.UnmetHolds, LeaderEnds: true, Idempotent: true, Container: true, Inner: 3,
		Shapes: []cluster.Shape{{VMs: s.VMs[:1], Walltime: time.Hour, Rules: "ban($VMS, n1);"}},
		Notify: []string{"mail:alice@example.org"}, Labels: map[string]string{"types": "besteffort"}, Comment: "a try",
	}
	job := w.submit(t, s)
	want := s.VJob(1)
	same(t, "returned", job, want)
	other := w.submit(t, Submission("", 1))

	for _, again := range []string{"at once", "after a restart"} {
		l := w.load(t)
		same(t, "vjobs "+again, l.VJobs, []*cluster.VJob{want, other})
		g := emptyGang(2, 1)
		same(t, "gangs "+again, l.Gangs, append(l.Gangs[:0:0], emptyGang(1, 3), g))
		w.reopen()
	}
	same(t, "events", w.Events(0), []journal.Event{
		{Seq: 1, At: Start, Kind: journal.EventSubmitted, VJob: 1, State: "waiting", Text: "alice submitted 3 VMs"},
		{Seq: 2, At: Start, Kind: journal.EventSubmitted, VJob: 2, State: "waiting", Text: "alice submitted 1 VM"},
	})
	kept := w.Kept(1)
	same(t, "size", kept.Size, 3)
	same(t, "reserved", kept.Reserved, cluster.Resources{CPU: 1503, Memory: 1536})
}

func testKeys(t *testing.T, w *World) {
	s := Submission("keyed", 2)
	s.Key = "key-1"
	first := w.submit(t, s)

	repeat := func(what string) {
		t.Helper()
		s.At = s.At.Add(time.Minute) // a client that tries again is later
		job, created, err := w.Submit(t.Context(), s)
		if err != nil || created {
			t.Fatalf("%s: created %t, %v", what, created, err)
		}
		same(t, what, job.ID, first.ID)
		same(t, what, job.Submitted, first.Submitted)
	}
	repeat("the same again")
	w.reopen()
	repeat("after a restart")

	for _, c := range []struct {
		owner, key string
		known      bool
	}{{s.Owner, s.Key, true}, {s.Owner, "key-2", false}, {"bob", s.Key, false}} {
		known, err := w.Known(t.Context(), c.owner, c.key)
		isError(t, "look for a key", err, nil)
		same(t, "key "+c.key+" of "+c.owner, known, c.known)
	}

	other := s
	other.Walltime++
	_, _, err := w.Submit(t.Context(), other)
	isError(t, "the key with another content", err, cluster.ErrConflict)

	other = s
	other.Owner = "bob"
	job := w.submit(t, other)
	if job.ID == first.ID {
		t.Error("bob got alice's vjob")
	}

	w.become(t, first, cluster.Terminated)
	repeat("after its end")
	same(t, "vjobs in the log", len(w.Events(0)), 3)
}

func testNames(t *testing.T, w *World) {
	first := w.submit(t, Submission("sim", 1))
	_, _, err := w.Submit(t.Context(), Submission("sim", 2))
	isError(t, "a name twice", err, cluster.ErrConflict)

	bobs := Submission("sim", 1)
	bobs.Owner = "bob"
	w.submit(t, bobs)
	w.submit(t, Submission("", 1))
	w.submit(t, Submission("", 1)) // no name is not a name

	w.become(t, first, cluster.Failed)
	again := w.submit(t, Submission("sim", 1))
	_, _, err = w.Submit(t.Context(), Submission("sim", 2))
	isError(t, "the name again, while its second bearer lives", err, cluster.ErrConflict)
	w.become(t, again, cluster.Terminated)
	w.reopen()
	w.submit(t, Submission("sim", 1))
}

func testBadSubmissions(t *testing.T, w *World) {
	cases := map[string]func(*admission.Submission){
		"no owner": func(s *admission.Submission) { s.Owner = "" },
		"no VMs":   func(s *admission.Submission) { s.VMs = nil },
	}
	for name, spoil := range cases {
		s := Submission("bad", 1)
		spoil(&s)
		_, _, err := w.Submit(t.Context(), s)
		isError(t, name, err, cluster.ErrInvalid)
	}
	same(t, "events", w.Events(0), []journal.Event{})
}

func testNumbers(t *testing.T, w *World) {
	last := cluster.VJobID(0)
	for i := range 12 {
		s := Submission(fmt.Sprintf("n%d", i), 1)
		if i%3 == 1 { // refused
			s.Name = "n0"
			_, _, err := w.Submit(t.Context(), s)
			isError(t, "duplicate", err, cluster.ErrConflict)
			continue
		}
		job := w.submit(t, s)
		if job.ID <= last {
			t.Errorf("vjob %s after vjob %s", job.ID, last)
		}
		last = job.ID
		if i%4 == 3 {
			w.become(t, job, cluster.Terminated) // its number is not free again
			w.reopen()
		}
	}
}

func testCancelled(t *testing.T, w *World) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := w.Submit(ctx, Submission("late", 1))
	isError(t, "submit", err, context.Canceled)
	isError(t, "commit", w.Commit(ctx, journal.Step{Events: []journal.Event{{Kind: journal.EventAlarm}}}), context.Canceled)
	_, err = w.Load(ctx)
	isError(t, "load", err, context.Canceled)
	for _, err = range w.Prune(ctx, journal.Horizon{}) {
		isError(t, "prune", err, context.Canceled)
	}
	isError(t, "prune at last", err, context.Canceled)
	same(t, "events", w.Events(0), []journal.Event{})
	same(t, "epoch", w.load(t).Epoch, int64(1))
}
