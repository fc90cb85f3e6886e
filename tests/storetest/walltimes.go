package storetest

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

func testWalltimes(t *testing.T, w *World) {
	job := w.submit(t, Submission("one", 1))
	other := w.submit(t, Submission("other", 1))
	set := func(id cluster.VJobID, d time.Duration) journal.Step {
		return journal.Step{Spans: []journal.WalltimeChange{{ID: id, Walltime: d}}}
	}
	w.commit(t, set(job.ID, 90*time.Minute))
	w.become(t, job, cluster.Booting) // which leaves it
	isError(t, "of an unknown vjob", w.Commit(t.Context(), set(99, time.Hour)), cluster.ErrNotFound)
	step := set(job.ID, time.Second)
	step.Usage = []journal.Usage{{VJob: 99}}
	isError(t, "in a step that is refused", w.Commit(t.Context(), step), cluster.ErrNotFound)
	w.reopen()
	l := w.load(t)
	same(t, "walltime", l.VJobs[0].Walltime, 90*time.Minute)
	same(t, "of the other", l.VJobs[1].Walltime, other.Walltime)
}
