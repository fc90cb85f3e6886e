package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

func (l *fakeScheduler) Acknowledge(ctx context.Context, id journal.AlarmID, comment string, act journal.Audit) error {
	for i := range l.snap.Alarms {
		if a := &l.snap.Alarms[i]; a.ID == id && a.Ended.IsZero() {
			a.AckedBy, a.AckedAt, a.Comment = act.By, act.At, comment
			return l.Commit(ctx, journal.Step{Alarms: []journal.Alarm{*a}, Audit: []journal.Audit{act}})
		}
	}
	return fmt.Errorf("alarm %d: %w", id, cluster.ErrNotFound)
}

// raise has two alarms in the store and in the snapshot, and one that has ended.
func (b *fixture) raise() {
	b.tb.Helper()
	alarms := []journal.Alarm{
		{ID: 1, Condition: journal.Condition{Kind: journal.AlarmNodeSilent, Node: "n1", Text: "node n1 does not answer"}, Since: epoch, Count: 2},
		{ID: 2, Condition: journal.Condition{Kind: journal.AlarmLost, VJob: 1, Text: "vjob 1: lost"}, Since: epoch, Count: 1},
		{ID: 3, Condition: journal.Condition{Kind: journal.AlarmImageStore, Text: "the image store cannot be read"}, Since: epoch, Ended: epoch.Add(time.Hour), Count: 1},
	}
	b.scheduler.snap.Alarms = alarms[:2]
	b.must(b.scheduler.Commit(b.tb.Context(), journal.Step{Alarms: alarms}))
}

func TestAlarms(t *testing.T) {
	b := newFixture(t)
	b.raise()
	list := read[wire.AlarmList](t, b.as("root", "GET", "/v1/alarms", ""), http.StatusOK).Alarms
	if len(list) != 2 || list[0].ID != 2 || list[1].Object != "node n1" || list[1].Count != 2 || !strings.Contains(list[1].Next, "vjob nodes down n1 --fenced") || list[1].Ended != nil {
		t.Errorf("open: %+v", list)
	}
	if all := read[wire.AlarmList](t, b.as("root", "GET", "/v1/alarms?ended=true&kind=image-store", ""), http.StatusOK).Alarms; len(all) != 1 || all[0].Ended == nil {
		t.Errorf("ended: %+v", all)
	}
	acked := read[wire.Alarm](t, b.as("root", "POST", "/v1/alarms/1/ack", `{"comment":"disk ordered"}`), http.StatusOK)
	if acked.AckedBy != "root" || acked.AckedAt == nil || acked.Comment != "disk ordered" {
		t.Errorf("acknowledged: %+v", acked)
	}
	if again := read[wire.AlarmList](t, b.as("root", "GET", "/v1/alarms?kind=node-silent", ""), http.StatusOK).Alarms; len(again) != 1 || again[0].AckedBy != "root" {
		t.Errorf("as stored: %+v", again)
	}
	audit := read[wire.AuditList](t, b.as("root", "GET", "/v1/audit?action=alarm", ""), http.StatusOK)
	if len(audit.Entries) != 1 || audit.Entries[0].Object != "1" {
		t.Errorf("audit: %+v", audit)
	}
	if st := read[wire.Status](t, b.as("root", "GET", "/v1/status", ""), http.StatusOK); st.Alarms == nil || *st.Alarms != 1 {
		t.Errorf("status: %v", st.Alarms)
	}
	if nodes := read[wire.NodeList](t, b.as("root", "GET", "/v1/nodes", ""), http.StatusOK); nodes.Alarms == nil || *nodes.Alarms != 1 {
		t.Errorf("nodes: %v", nodes.Alarms)
	}
}

// Users see no alarms, nor how many there are, and change none.
func TestAlarmsAreForAdministrators(t *testing.T) {
	b := newFixture(t)
	b.raise()
	for _, c := range [][2]string{{"GET", "/v1/alarms"}, {"GET", "/v1/alarms?ended=true"}, {"POST", "/v1/alarms/1/ack"}} {
		if res := b.as("alice", c[0], c[1], "{}"); res.Code != http.StatusForbidden || strings.Contains(res.Body.String(), "n1") {
			t.Errorf("%v: %d %s", c, res.Code, res.Body)
		}
	}
	if st := read[wire.Status](t, b.as("alice", "GET", "/v1/status", ""), http.StatusOK); st.Alarms != nil {
		t.Errorf("alice sees %d alarms", *st.Alarms)
	}
	for path, want := range map[string]int{
		"/v1/alarms/0/ack": 400, "/v1/alarms/x/ack": 400, "/v1/alarms/9/ack": 404, "/v1/alarms/3/ack": 409,
	} {
		if res := b.as("root", "POST", path, "{}"); res.Code != want {
			t.Errorf("%s: %d %s", path, res.Code, res.Body)
		}
	}
	for _, body := range []string{`{"comment":"two\nlines"}`, `{"comment":"` + strings.Repeat("x", 1001) + `"}`, `{"comment":"\u001b[2J"}`, `{"by":"eve"}`} {
		if res := b.as("root", "POST", "/v1/alarms/1/ack", body); res.Code != http.StatusBadRequest {
			t.Errorf("%.30s: %d %s", body, res.Code, res.Body)
		}
	}
	if res := b.as("root", "GET", "/v1/alarms?kind=horse", ""); res.Code != http.StatusBadRequest {
		t.Errorf("kind: %d", res.Code)
	}
}

func TestAlarmMetrics(t *testing.T) {
	b := newFixture(t)
	b.raise()
	b.scheduler.snap.Alarms[0].AckedBy = "root"
	h := scheduler.Waits{Classes: make([]uint64, len(scheduler.WaitBounds)), Count: 3, Sum: 10 * time.Second}
	h.Classes[0], h.Classes[1] = 1, 1 // and one that waited longer than all bounds
	b.scheduler.snap.Waits = map[string]scheduler.Waits{"batch": h}
	text := b.as("root", "GET", "/metrics", "").Body.String()
	for _, want := range []string{
		`vjob_alarms_open{kind="node-silent"} 1`, `vjob_alarms_open{kind="lost"} 1`, `vjob_alarms_open{kind="image-store"} 0`,
		`vjob_alarms_unacknowledged{kind="node-silent"} 0`, `vjob_alarms_unacknowledged{kind="lost"} 1`,
		`vjob_wait_seconds_bucket{queue="batch",le="1"} 1`, `vjob_wait_seconds_bucket{queue="batch",le="10"} 2`, `vjob_wait_seconds_bucket{queue="batch",le="+Inf"} 3`,
		`vjob_wait_seconds_sum{queue="batch"} 10`, `vjob_wait_seconds_count{queue="batch"} 3`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
}
