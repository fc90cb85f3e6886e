package api_test

import (
	"net/http"
	"testing"
	"time"

	"vjob/api"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// writeUse has vjob 1 of alice use one processor for half an hour, on a node that offers four, in the hour from an instant on.
func (b *fixture) writeUse(from time.Time) {
	b.tb.Helper()
	b.must(b.scheduler.Commit(b.tb.Context(), journal.Step{
		Usage:      []journal.Usage{{VJob: 1, Running: 30 * time.Minute, Reserved: 1.8e6}},
		UsageHours: []journal.UsageHour{{Hour: from, VJob: 1, Node: "n1", Reserved: 1.8e6, Used: 0.9e6, MemoryTime: 1024 * 1800}},
		Capacity:   []journal.NodeCapacity{{At: from, Node: "n1", Has: cluster.Resources{CPU: 4000, Memory: 8192}}},
		Discarded:  []journal.DiscardedRun{{VJob: 1, At: from.Add(time.Minute), Cause: cluster.CauseOrder}},
	}))
}

// Users see what their own vjobs used, administrators what all did.
func TestReport(t *testing.T) {
	b := newFixture(t)
	b.populate()
	from := time.Now().UTC().Truncate(time.Hour).Add(-5 * time.Hour)
	b.writeUse(from)
	path := "/v1/report?since=" + from.Format(time.RFC3339) + "&until=" + from.Add(time.Hour).Format(time.RFC3339) + "&by="
	all := read[wire.Report](t, b.as("root", "GET", path+"user,node", ""), http.StatusOK)
	if len(all.Rows) != 1 || *all.Rows[0].User != "alice" || *all.Rows[0].Node != "n1" || *all.Rows[0].ReservedCPUHours != 0.5 || *all.Rows[0].UsedCPUHours != 0.25 ||
		*all.Rows[0].MemoryGiBHours != 0.5 || *all.Rows[0].CapacityPercent != 12.5 || all.Rows[0].EnergyKWh != nil {
		t.Errorf("root sees %+v", all)
	}
	if l := all.Total; l.LostRuns != 1 || l.LostRequeued != 1 || *l.LostCPUHours != 0.5 || l.LostRunningHours != 0.5 || *l.ReservedCPUHours != 0.5 {
		t.Errorf("in sum %+v", l)
	}
	if own := read[wire.Report](t, b.as("alice", "GET", path+"queue", ""), http.StatusOK); len(own.Rows) != 1 || *own.Total.ReservedCPUHours != 0.5 {
		t.Errorf("alice sees %+v", own)
	}
	for _, by := range []string{"user", "node", "day", "user&user=bob"} {
		if other := read[wire.Report](t, b.as("bob", "GET", path+by, ""), http.StatusOK); len(other.Rows) != 0 || *other.Total.ReservedCPUHours != 0 || other.Total.LostRuns != 0 {
			t.Errorf("bob sees by %s %+v", by, other)
		}
	}
}

// Days begin in the zone of the cluster, unless the request has another; also on the day on which clocks are set.
func TestReportPeriods(t *testing.T) {
	b := newFixture(t, func(c *api.Config) {
		c.Zone, _ = time.LoadLocation("Europe/Paris")
	})
	b.populate()
	for _, at := range []string{"2025-03-29T22:00:00Z", "2025-03-29T23:00:00Z", "2025-03-30T21:00:00Z", "2025-03-30T22:00:00Z"} {
		hour, _ := time.Parse(time.RFC3339, at)
		b.must(b.scheduler.Commit(t.Context(), journal.Step{UsageHours: []journal.UsageHour{{Hour: hour, VJob: 1, Node: "n1", Reserved: 3.6e6}}}))
	}
	for query, want := range map[string][]float64{"day": {1, 2, 1}, "day&zone=UTC": {2, 2}, "week": {3, 1}, "month": {4}} {
		r := read[wire.Report](t, b.as("root", "GET", "/v1/report?since=2025-03-28T00:00:00Z&until=2025-04-03T00:00:00Z&by="+query, ""), http.StatusOK)
		if query == "month" {
			want = []float64{4} // all of them lie in March
		}
		var got []float64
		for i := range r.Rows {
			got = append(got, *r.Rows[i].ReservedCPUHours)
		}
		if len(got) != len(want) {
			t.Fatalf("by %s: %v", query, got)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("by %s: %v, want %v", query, got, want)
			}
		}
	}
}

func TestBadReportQueries(t *testing.T) {
	b := newFixture(t)
	for _, c := range []struct {
		caller, query string
		status        int
		field         string
	}{
		{"root", "by=horse", http.StatusBadRequest, "by"},
		{"root", "by=", http.StatusBadRequest, "by"},
		{"root", "by=user,user", http.StatusBadRequest, "by"},
		{"root", "by=day,week", http.StatusBadRequest, "by"},
		{"root", "by=day&since=2020-01-01T00:00:00Z&until=2024-01-01T00:00:00Z", http.StatusBadRequest, "by"},
		{"root", "since=now", http.StatusBadRequest, "since"},
		{"root", "since=2200-01-01T00:00:00Z", http.StatusBadRequest, "since"},
		{"root", "since=1970-01-01T00:00:00Z", http.StatusBadRequest, "since"},
		{"root", "zone=Mars/Olympus", http.StatusBadRequest, "zone"},
		{"root", "zone=../../etc/passwd", http.StatusBadRequest, "zone"},
		{"root", "zone=Local", http.StatusBadRequest, "zone"},
		{"alice", "user=bob", http.StatusForbidden, ""},
		{"alice", "user='%20OR%201=1--", http.StatusForbidden, ""},
	} {
		res := b.as(c.caller, "GET", "/v1/report?"+c.query, "")
		if e := read[wire.Error](t, res, c.status); e.Error.Field != c.field {
			t.Errorf("%s %s: %+v", c.caller, c.query, e.Error)
		}
	}
	for _, query := range []string{"until=1970-01-01T00:00:00Z", "user='%20OR%201=1--", "queue=%00"} {
		if r := read[wire.Report](t, b.as("root", "GET", "/v1/report?"+query, ""), http.StatusOK); len(r.Rows) != 0 {
			t.Errorf("%s: %+v", query, r.Rows)
		}
	}
}
