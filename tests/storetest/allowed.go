package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/admission"
)

// testAllowed counts what an owner has after submissions, arrays, reshapes, further attempts
// and ends, also across a restart.
func testAllowed(t *testing.T, w *World) {
	try := func(what, want string, array, vms int) *cluster.VJob {
		t.Helper()
		s := Submission("", vms)
		s.Allowed = admission.Holding{VJobs: 4, VMs: 10}
		s.Array = make([]string, array)
		job, _, err := w.Submit(t.Context(), s)
		got := ""
		if bad, ok := errors.AsType[*cluster.FieldError](err); ok {
			got = bad.Text
		}
		same(t, what, got, want)
		return job
	}
	const rest = " in vjobs that have not ended and may have "
	const fix = " at once: wait until some end, or delete some"
	bobs := Submission("", 3)
	bobs.Owner = "bob"
	w.submit(t, bobs)

	try("an array of five", "array: 5 vjobs requested, alice has 0"+rest+"4"+fix, 5, 1)
	try("eleven VMs", "vms: 11 VMs requested, alice has 0"+rest+"10"+fix, 0, 11)
	first := try("an array of three", "", 3, 2)
	try("five VMs", "vms: 5 VMs requested, alice has 6"+rest+"10"+fix, 0, 5)
	w.reopen()
	try("five VMs after a restart", "vms: 5 VMs requested, alice has 6"+rest+"10"+fix, 0, 5)
	last := try("four VMs", "", 0, 4)
	try("a fifth vjob", "vms: 1 vjobs requested, alice has 4"+rest+"4"+fix, 0, 1)
	w.become(t, first, cluster.Failed)
	w.become(t, last, cluster.Terminated)
	again := journal.Step{Again: []journal.Attempt{{Of: first.ID, At: Start, Text: "again"}}}
	isError(t, "another attempt", w.Commit(t.Context(), again), nil)
	try("an array of two after two ends and another attempt", "array: 2 vjobs requested, alice has 3"+rest+"4"+fix, 2, 2)
	try("four VMs after that", "", 0, 4)

	shaped := bobs
	shaped.Owner = "carol"
	shaped.Shapes = []cluster.Shape{{VMs: bobs.VMs, Walltime: bobs.Walltime}, {VMs: bobs.VMs[:1], Walltime: bobs.Walltime}}
	job := w.submit(t, shaped)
	isError(t, "another shape", w.Commit(t.Context(), journal.Step{Reshape: []journal.Reshape{{
		VJob: job.ID, Shape: 1, Walltime: bobs.Walltime, Reserved: []cluster.Resources{bobs.VMs[0].Reserved},
	}}}), nil)
	shaped.Shapes, shaped.Allowed.VMs = nil, 4
	w.submit(t, shaped) // three beside the one that is left
}

// testAllowedAtOnce submits concurrently: as many submissions are accepted as are allowed.
func testAllowedAtOnce(t *testing.T, w *World) {
	const clients, may = 60, 5
	var accepted atomic.Int32
	var all sync.WaitGroup
	release := make(chan struct{})
	for range clients {
		all.Go(func() {
			<-release
			s := Submission("", 1)
			s.Allowed.VJobs = may
			if _, _, err := w.Submit(t.Context(), s); err == nil {
				accepted.Add(1)
			} else if !errors.Is(err, cluster.ErrInvalid) {
				t.Error(err)
			}
		})
	}
	close(release)
	all.Wait()
	same(t, "accepted", accepted.Load(), int32(may))
	same(t, "kept", len(w.load(t).VJobs), may)
}
