package storetest

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// testUsageHours: use adds up by hour, vjob and node; it goes with its horizon, but for the runs of live vjobs.
func testUsageHours(t *testing.T, w *World) {
	w.load(t)
	first := Start.Truncate(time.Hour)
	at := func(hour int) time.Time { return first.Add(time.Duration(hour) * time.Hour) }
	job, ended := w.submit(t, Submission("live", 1)), w.submit(t, Submission("ended", 1))
	use := func(hour int, id cluster.VJobID, node cluster.NodeID, ms int64) journal.UsageHour {
		return journal.UsageHour{Hour: at(hour), VJob: id, Node: node, Reserved: ms, Used: ms / 2, MemoryTime: 3}
	}
	spent := func(id cluster.VJobID) journal.Usage {
		return journal.Usage{VJob: id, Running: time.Minute, Reserved: 7}
	}
	w.commit(t, journal.Step{
		Usage:      []journal.Usage{spent(job.ID), spent(ended.ID)},
		UsageHours: []journal.UsageHour{use(0, job.ID, "b", 10), use(0, job.ID, "a", 20), use(1, job.ID, "a", 40), use(0, ended.ID, "a", 80)},
		Discarded:  []journal.DiscardedRun{{VJob: job.ID, At: at(0), Cause: cluster.CauseLost}, {VJob: ended.ID, At: at(0), Cause: cluster.CauseOrder}},
		Capacity:   []journal.NodeCapacity{{At: at(0), Node: "b", Has: cluster.Resources{CPU: 1000, Memory: 5}}, {At: at(0), Node: "a"}},
	})
	w.reopen()
	same(t, "capacity", w.load(t).Capacity, []journal.NodeCapacity{{At: at(0).UTC(), Node: "a"}, {At: at(0).UTC(), Node: "b", Has: cluster.Resources{CPU: 1000, Memory: 5}}})
	w.commit(t, journal.Step{UsageHours: []journal.UsageHour{use(0, job.ID, "a", 100)}})
	sums := func() (list []int64) {
		for _, row := range w.Report(journal.ReportFilter{Borders: []time.Time{at(0), at(1), at(2)}, By: []journal.ReportKey{journal.ReportNode}}).Rows {
			list = append(list, row.Reserved)
		}
		return list
	}
	same(t, "by node and hour", sums(), []int64{200, 10, 40})
	bad := journal.Step{UsageHours: []journal.UsageHour{use(0, job.ID, "a", 1000)}, Usage: []journal.Usage{{VJob: 99}}}
	isError(t, "use beside what is wrong", w.Commit(t.Context(), bad), cluster.ErrNotFound)
	same(t, "after that", sums(), []int64{200, 10, 40})

	w.end(t, ended, at(1))
	lost := func() journal.LostWork {
		return w.Report(journal.ReportFilter{Borders: []time.Time{at(0), at(2)}}).Total.Lost
	}
	same(t, "lost", lost(), journal.LostWork{Runs: 2, Requeues: 1, Losses: 1, Running: 2 * time.Minute, Reserved: 14})
	sum, _ := w.prune(t, journal.Horizon{Energy: at(1)})
	same(t, "pruned", sum, journal.Pruned{Usage: 4})
	same(t, "use that is left", sums(), []int64{0, 40}) // the lost run of the live vjob stays, for the next one to count from
	same(t, "lost and left", lost(), journal.LostWork{Runs: 1, Losses: 1, Running: time.Minute, Reserved: 7})
}
