package storetest

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy/power/cycle"
)

func testPower(t *testing.T, w *World) {
	none := []cycle.Record(nil)
	same(t, "power at first", w.load(t).Power, none)
	w.commit(t, journal.Step{Nodes: []cluster.Node{{ID: "b"}, {ID: "a"}}})
	b := cycle.Record{
		Node: "b", Phase: cycle.Stopping, Since: Start, Want: cycle.WantOff, By: "root", Attempt: 2,
		RequestedAt: Start.Add(time.Minute), Reason: "it's 'hot'",
	}
	a := cycle.Record{Node: "a", Phase: cycle.Off, Since: Start.Add(time.Second)}
	w.commit(t, journal.Step{Power: []cycle.Record{b, a}})
	w.reopen()
	same(t, "power", w.load(t).Power, []cycle.Record{a, b})

	b.Phase, b.Attempt, b.RequestedAt, b.Want, b.By = cycle.Off, 0, time.Time{}, cycle.WantOn, ""
	w.commit(t, journal.Step{Power: []cycle.Record{b}})
	same(t, "power after a change", w.load(t).Power, []cycle.Record{a, b})

	bad := b
	bad.Phase = cycle.Stuck + 1
	for name, wrong := range map[string]cycle.Record{
		"no node": {}, "no phase": bad, "unknown": {Node: "z"}, "negative": {Node: "b", Attempt: -1},
	} {
		err := w.Commit(t.Context(), journal.Step{Power: []cycle.Record{{Node: "a", Phase: cycle.Stuck}, wrong}})
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	same(t, "power after what was refused", w.load(t).Power, []cycle.Record{a, b})
}
