package storetest

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/duration"
	"vjob/ctxswitch/journal"
)

// testDurations writes more observations of one node and kind than count: the oldest go, those of
// others stay, and the order is that in which they were written, whatever their times.
func testDurations(t *testing.T, w *World) {
	observed := func(node cluster.NodeID, kind duration.Kind, i int) duration.Observation {
		return duration.Observation{
			Node: node, Kind: kind, At: Start.Add(-time.Duration(i) * time.Minute), Memory: cluster.MiB(512 + i), Taken: time.Duration(i) * time.Second,
		}
	}
	rare := observed("n2", duration.ResumeRemote, 7)
	want := []duration.Observation{rare}
	w.commit(t, journal.Step{Learned: want})
	const all = duration.Window + 5
	for i := range all {
		o := observed("n1", duration.Suspend, i)
		w.commit(t, journal.Step{Learned: []duration.Observation{o, observed("n1", duration.Boot, i)}})
		if i >= all-duration.Window {
			want = append(want, o, observed("n1", duration.Boot, i))
		}
	}
	same(t, "observations", w.load(t).Learned, want)
}
