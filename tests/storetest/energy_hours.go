package storetest

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

func testEnergyHours(t *testing.T, w *World) {
	first := Start.Truncate(time.Hour)
	at := func(hour int) time.Time { return first.Add(time.Duration(hour) * time.Hour) }
	job := w.submit(t, Submission("shifted", 1))
	if err := job.Become(cluster.Booting, cluster.Because("test")); err != nil {
		t.Fatal(err)
	}
	started := Change(job)
	started.Started = job.Submitted.Add(90 * time.Minute)
	own := func(hour int, id cluster.VJobID, owner, project string, mj int64) journal.VJobHour {
		return journal.VJobHour{
			Hour: at(hour), VJob: id, Owner: owner, Project: project, Queue: "batch", Millijoules: mj, Shifted: id == job.ID,
		}
	}
	w.commit(t, journal.Step{
		VJobs: []journal.VJobChange{started}, Events: []journal.Event{StateEvent(job)},
		NodeHours: []journal.NodeHour{{Hour: at(0), Node: "b", Millijoules: 10, Unused: 3}, {Hour: at(0), Node: "a", Millijoules: 7, Unused: 7}},
		VJobHours: []journal.VJobHour{own(0, job.ID, "ann", "p", 5), own(0, 77, "bob", "", 2)},
	})
	w.reopen()
	w.commit(t, journal.Step{
		NodeHours: []journal.NodeHour{{Hour: at(0), Node: "b", Millijoules: 4, Unused: 0}, {Hour: at(1), Node: "b", Millijoules: 9, Unused: 1}},
		VJobHours: []journal.VJobHour{own(0, 77, "bob", "", 4), own(1, job.ID, "ann", "p", 8)},
	})
	const waited = 90 * time.Minute
	whole := journal.EnergyFilter{From: at(0), To: at(9)}
	for _, c := range []struct {
		by    journal.EnergyBy
		owner string
		to    int
		want  []journal.EnergyRow
	}{
		{journal.ByOwner, "", 9, []journal.EnergyRow{
			{Hour: at(0), Name: "ann", Waited: waited, Millijoules: 5},
			{Hour: at(0), Name: "bob", Millijoules: 6},
			{Hour: at(0), Unused: true, Millijoules: 10},
			{Hour: at(1), Name: "ann", Waited: waited, Millijoules: 8},
			{Hour: at(1), Unused: true, Millijoules: 1},
		}},
		{journal.ByProject, "", 1, []journal.EnergyRow{
			{Hour: at(0), Name: "", Millijoules: 6},
			{Hour: at(0), Name: "p", Waited: waited, Millijoules: 5},
			{Hour: at(0), Unused: true, Millijoules: 10},
		}},
		{journal.ByNode, "", 9, []journal.EnergyRow{
			{Hour: at(0), Name: "a", Millijoules: 7}, {Hour: at(0), Name: "b", Millijoules: 14}, {Hour: at(1), Name: "b", Millijoules: 9},
		}},
		{journal.ByQueue, "bob", 9, []journal.EnergyRow{{Hour: at(0), Name: "batch", Millijoules: 6}}},
		{journal.ByVJob, "bob", 9, []journal.EnergyRow{{Hour: at(0), Name: "77", Millijoules: 6}}},
	} {
		f := whole
		f.By, f.Owner, f.To = c.by, c.owner, at(c.to)
		same(t, "energy by "+string(c.by), w.Energy(f), c.want)
	}
	err := w.Commit(t.Context(), journal.Step{VJobHours: []journal.VJobHour{own(0, 77, "bob", "", 4)}, Usage: []journal.Usage{{VJob: 99}}})
	isError(t, "energy beside what is wrong", err, cluster.ErrNotFound)
	whole.By = journal.ByQueue
	whole.Owner = "bob"
	same(t, "energy after that", w.Energy(whole), []journal.EnergyRow{{Hour: at(0), Name: "batch", Millijoules: 6}})

	sum, _ := w.prune(t, journal.Horizon{Energy: at(1)})
	same(t, "pruned", sum, journal.Pruned{Energy: 4})
	whole.By, whole.Owner = journal.ByNode, ""
	same(t, "energy that is left", w.Energy(whole), []journal.EnergyRow{{Hour: at(1), Name: "b", Millijoules: 9}})
}
