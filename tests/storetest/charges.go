package storetest

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

func testCharges(t *testing.T, w *World) {
	first := Start.Truncate(time.Hour)
	charge := func(user, project string, hours time.Duration, cpu int64) journal.Charge {
		return journal.Charge{
			User: user, Project: project, Queue: "batch", Hour: first.Add(hours * time.Hour), CPUTime: cpu, MemoryTime: 2 * cpu,
		}
	}
	w.commit(t, journal.Step{Charges: []journal.Charge{charge("bob", "", 0, 1), charge("ann", "p", 1, 10), charge("bob", "", 0, 2)}})
	w.reopen()
	w.commit(t, journal.Step{Charges: []journal.Charge{charge("ann", "p", 1, 20), charge("ann", "", 1, 5), charge("bob", "", 7, 6)}})
	want := []journal.Charge{
		charge("bob", "", 0, 3), charge("ann", "", 1, 5), charge("ann", "p", 1, 30), charge("bob", "", 7, 6),
	}
	same(t, "charges", w.load(t).Charges, want)
	err := w.Commit(t.Context(), journal.Step{Charges: want, Usage: []journal.Usage{{VJob: 99}}})
	isError(t, "charges beside what is wrong", err, cluster.ErrNotFound)
	same(t, "charges after that", w.load(t).Charges, want)

	sum, _ := w.prune(t, journal.Horizon{Charges: first.Add(time.Hour)})
	same(t, "pruned", sum, journal.Pruned{Charges: 1})
	sum, _ = w.prune(t, everything(first.Add(2*time.Hour)))
	same(t, "pruned with the history", sum.Charges, 0)
	same(t, "charges that are left", w.load(t).Charges, want[1:])
	many := make([]journal.Charge, 1001)
	for i := range many {
		many[i] = charge("eve", "", time.Duration(i), 1)
	}
	w.commit(t, journal.Step{Charges: many})
	sum, batches := w.prune(t, journal.Horizon{Charges: first.Add(2000 * time.Hour)})
	if sum.Charges != 1004 || batches != 3 {
		t.Errorf("%d charges in %d batches, want 1004 in 3", sum.Charges, batches)
	}
}
