package storetest

import (
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

func testPools(t *testing.T, w *World) {
	same(t, "pools at first", w.load(t).Pools, journal.Pools{})
	first := journal.Pools{Text: `[{"name":"physics"}]`, By: "root", At: Start}
	w.commit(t, journal.Step{Pools: &first})
	w.reopen()
	same(t, "pools", w.load(t).Pools, first)
	w.commit(t, journal.Step{Pools: &journal.Pools{By: "root", At: Start}})
	same(t, "no pools", w.load(t).Pools, journal.Pools{By: "root", At: Start})
}

// A vjob keeps the pool to which it was moved, and so does each vjob of an array the pool of its submission.
func testMoves(t *testing.T, w *World) {
	s := Submission("one", 1)
	s.Pool = "physics"
	s.Array = []string{"a", "b"}
	job := w.submit(t, s)
	step := journal.Step{Moved: []journal.PoolChange{{ID: job.ID, Pool: "theory"}}}
	w.commit(t, step)
	isError(t, "of an unknown vjob", w.Commit(t.Context(), journal.Step{Moved: []journal.PoolChange{{ID: 99, Pool: "x"}}}), cluster.ErrNotFound)
	w.reopen()
	l := w.load(t)
	same(t, "moved", l.VJobs[0].Pool, "theory")
	same(t, "not moved", l.VJobs[1].Pool, "physics")
}

// A vjob keeps the mode of moves that it was given last, and so does each vjob of an array that of its submission.
func testMoveModes(t *testing.T, w *World) {
	s := Submission("one", 1)
	s.Moves = cluster.MovesManual
	s.Array = []string{"a", "b"}
	job := w.submit(t, s)
	set := func(id cluster.VJobID, mode cluster.MoveMode) journal.Step {
		return journal.Step{MoveModes: []journal.MoveModeChange{{ID: id, Moves: mode}}}
	}
	w.commit(t, set(job.ID, cluster.MovesNever))
	isError(t, "of an unknown vjob", w.Commit(t.Context(), set(99, cluster.MovesNever)), cluster.ErrNotFound)
	w.reopen()
	l := w.load(t)
	same(t, "changed", l.VJobs[0].Moves, cluster.MovesNever)
	same(t, "not changed", l.VJobs[1].Moves, cluster.MovesManual)
	w.commit(t, set(job.ID, cluster.MovesAutomatic))
	w.reopen()
	same(t, "automatic", w.load(t).VJobs[0].Moves, cluster.MovesAutomatic)
}
