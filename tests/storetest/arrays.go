package storetest

import (
	"fmt"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/admission"
)

// array is a submission of n vjobs called sweep, each with its own parameter.
func array(n, vms int) admission.Submission {
	s := Submission("sweep", vms)
	for i := range n {
		s.Array = append(s.Array, fmt.Sprintf("p%d", i+1))
	}
	return s
}

// All vjobs of an array come in one submission, with consecutive numbers and their own names
// and parameters.
func testArray(t *testing.T, w *World) {
	w.submit(t, Submission("before", 1))
	s := array(7, 2)
	s.Key, s.Terms = "k", cluster.Terms{Queue: "night", Project: "physics", MaxConcurrent: 3}
	first := w.submit(t, s)
	same(t, "first", first, s.VJobs(2)[0])
	after := w.submit(t, Submission("after", 1))
	same(t, "the number after the array", after.ID, cluster.VJobID(9))

	for _, again := range []string{"at once", "after a restart"} {
		l := w.load(t)
		same(t, "members "+again, l.VJobs[1:8], s.VJobs(2))
		var gangs []gang.Record
		for id := cluster.VJobID(2); id < 9; id++ {
			gangs = append(gangs, emptyGang(id, 2))
		}
		same(t, "gangs "+again, l.Gangs[1:8], gangs)
		w.reopen()
	}
	events := w.Events(0)
	same(t, "events", len(events), 9)
	for i, e := range events {
		same(t, "event", e.VJob, cluster.VJobID(i+1))
		same(t, "kind", e.Kind, journal.EventSubmitted)
	}
	job, created, err := w.Submit(t.Context(), s)
	if err != nil || created || job.ID != first.ID {
		t.Errorf("the key again: %v, created %t, %v", job, created, err)
	}
}

// The name of an array is in use as long as one of its vjobs is live.
func testNamesOfArrays(t *testing.T, w *World) {
	s := array(3, 1)
	first := w.submit(t, s)
	refused := func(what string) {
		t.Helper()
		for _, s := range []admission.Submission{array(2, 1), Submission("sweep", 1)} {
			_, _, err := w.Submit(t.Context(), s)
			isError(t, what, err, cluster.ErrConflict)
		}
	}
	refused("while all live")
	members := s.VJobs(first.ID)
	w.become(t, members[0], cluster.Failed)
	w.become(t, members[2], cluster.Failed)
	w.reopen()
	refused("while the second lives")
	w.submit(t, Submission("sweeper", 1)) // begins like it, and is another name
	w.become(t, members[1], cluster.Terminated)
	again := w.submit(t, Submission("sweep", 1))
	refused("while a single vjob bears it")
	w.become(t, again, cluster.Terminated)
	w.submit(t, array(1, 1))
	refused("while an array of one lives")
}
