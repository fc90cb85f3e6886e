package storetest

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
)

// testShapes gives a vjob another of its shapes, larger or smaller, and reads it back.
func testShapes(t *testing.T, w *World) {
	s := Submission("mold", 3)
	s.Shapes = []cluster.Shape{{VMs: s.VMs, Walltime: s.Walltime}}
	for _, n := range []int{1, 5} {
		other := Submission("other", n)
		s.Shapes = append(s.Shapes, cluster.Shape{VMs: other.VMs, Walltime: time.Duration(n) * time.Minute, Rules: "spread($VMS);"})
	}
	job := w.submit(t, s)
	for _, shape := range []int{1, 2, 0, 2} {
		want := job.WithShape(shape)
		r := journal.Reshape{VJob: job.ID, Shape: shape, Walltime: want.Walltime}
		for _, vm := range want.VMs {
			r.Reserved = append(r.Reserved, vm.Reserved)
		}
		w.commit(t, journal.Step{Reshape: []journal.Reshape{r}})
		w.reopen()
		kept := w.Kept(job.ID)
		same(t, "the vjob", kept.VJob, want)
		same(t, "its gang", len(kept.Gang.Members), len(want.VMs))
		same(t, "its size", kept.Size, len(want.VMs))
		same(t, "its need", kept.Reserved, want.Reserved())
		loaded := w.load(t)
		same(t, "what is loaded", loaded.VJobs[0], want)
		same(t, "the gang that is loaded", len(loaded.Gangs[0].Members), len(want.VMs))
	}

	again := journal.Reshape{VJob: job.ID, Shape: 1, Walltime: time.Minute, Reserved: []cluster.Resources{{CPU: 500, Memory: 512}}}
	isError(t, "an unknown vjob", w.Commit(t.Context(), journal.Step{Reshape: []journal.Reshape{{VJob: 99, Reserved: again.Reserved}}}), cluster.ErrNotFound)
	rec := emptyGang(job.ID, 5)
	rec.Phase, rec.Incarnation = gang.Creating, 1
	w.become(t, job, cluster.Booting)
	w.commit(t, journal.Step{Gangs: []gang.Record{rec}})
	isError(t, "a vjob that is started", w.Commit(t.Context(), journal.Step{Reshape: []journal.Reshape{again}}), cluster.ErrConflict)
	same(t, "its size in the end", w.Kept(job.ID).Size, 5)
}
