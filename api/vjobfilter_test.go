package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// end ends a vjob.
func (b *fixture) end(id cluster.VJobID, outcome cluster.Outcome, why string) {
	b.tb.Helper()
	b.must(b.scheduler.Commit(b.tb.Context(), journal.Step{VJobs: []journal.VJobChange{{
		ID: id, State: cluster.Terminated, Outcome: outcome, Version: 1, Ended: epoch.Add(time.Hour), Cause: &cluster.Cause{Text: why},
	}}}))
}

// Lists are narrowed by the query, for users among their own vjobs.
func TestListConditions(t *testing.T) {
	b := newFixture(t)
	submit := func(caller, body string) {
		read[wire.VJob](t, b.as(caller, "POST", "/v1/vjobs", "{"+body+","+one+"}"), http.StatusCreated)
	}
	submit("alice", `"name":"climate","project":"physics","labels":{"campaign":"7"},"comment":"The first"`)
	submit("alice", `"name":"sweep","parameters":["1 2","3"],"labels":{"campaign":"8"}`)
	submit("bob", `"name":"climate","labels":{"campaign":"7"}`)
	b.end(2, cluster.Deleted, "deleted by alice")
	for query, want := range map[string]string{
		"project=physics":                         "climate",
		"label=campaign%3D8":                      "sweep[1] sweep[2]",
		"label=campaign":                          "climate sweep[1] sweep[2]",
		"label=campaign&label=campaign%3D7":       "climate",
		"match=FIRST":                             "climate",
		"match=1+2":                               "sweep[1]",
		"prefix=sw":                               "sweep[1] sweep[2]",
		"name=sweep&index=2":                      "sweep[2]",
		"array=2&index=1-9":                       "sweep[1] sweep[2]",
		"outcome=deleted&outcome=completed":       "sweep[1]",
		"outcome=completed":                       "",
		"ended=true":                              "sweep[1]",
		"index=" + strings.Repeat("9,", 99) + "2": "sweep[2]",
		strings.Repeat("label=campaign&", 63) + "label=campaign%3D7&index=" + strings.Repeat("9,", 99) + "2&fold=true": "",
		"ended=true&label=campaign%3D7":              "",
		"live=true&name=sweep":                       "sweep[2]",
		"ended_since=2026-01-01T00:00:00Z&node=n1":   "",
		"submitted_until=1980-01-01T00:00:00.5Z":     "",
		"ended_since=1980-01-01T00:00:00Z&index=1,2": "sweep[1]",
	} {
		list := read[wire.VJobList](t, b.as("alice", "GET", "/v1/vjobs?"+query, ""), 200)
		var names []string
		for i := range list.VJobs {
			names = append(names, list.VJobs[i].Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	first := read[wire.VJobList](t, b.as("alice", "GET", "/v1/vjobs?name=climate", ""), 200)
	if len(first.VJobs) != 1 || first.VJobs[0].Labels["campaign"] != "7" {
		t.Errorf("labels in a list: %+v", first.VJobs)
	}
}

// The client sends every condition under the name that the server knows.
func TestClientSendsConditions(t *testing.T) {
	b := newFixture(t)
	server := httptest.NewServer(b.Handler())
	defer server.Close()
	c, err := client.New(client.Settings{Server: server.URL, Token: b.tokens["root"], Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 22, 0, 0, 0, 5, time.UTC)
	_, err = c.VJobs(t.Context(), client.VJobQuery{
		States: []string{"failed"}, Outcomes: []string{"deleted"}, Owner: "bob", Name: "x", Ended: true, Newest: true, Array: 1, Indexes: "1,3-4", Fold: true,
		Project: "p", Queue: "q", Labels: []string{"a=b", "c"}, Node: "n1", Match: "m", Prefix: "x",
		SubmittedSince: at, SubmittedUntil: at.Add(time.Hour), EndedSince: at, EndedUntil: at.Add(time.Hour), Cursor: "1", Limit: 1,
	})
	if err != nil {
		t.Error(err)
	}
}

// An order to a vjob that has ended says how and when it ended, to users that may see it.
func TestOrdersAfterTheEnd(t *testing.T) {
	b := newFixture(t)
	for _, body := range []string{`"name":"run"`, `"parameters":["a","b"]`} {
		read[wire.VJob](t, b.as("alice", "POST", "/v1/vjobs", "{"+body+","+one+"}"), http.StatusCreated)
	}
	b.end(1, cluster.WalltimeExceeded, "its walltime is over")
	want := "vjob 1 has ended (overdue at " + epoch.Add(time.Hour).UTC().Format("2006-01-02 15:04:05") + " UTC): its walltime is over"
	for _, c := range [][3]string{
		{"DELETE", "", ""},
		{"POST", "/hold", ""},
		{"POST", "/release", ""},
		{"POST", "/suspend", ""},
		{"POST", "/resume", ""},
		{"POST", "/requeue", ""},
		{"PATCH", "", `{"walltime_seconds":60}`},
		{"PATCH", "", `{"moves":"never"}`},
		{"PATCH", "", `{"pool":"physics"}`},
	} {
		res := b.as("alice", c[0], "/v1/vjobs/1"+c[1], c[2])
		e := read[wire.Error](t, res, http.StatusConflict).Error
		if e.Code != wire.CodeConflict || e.Message != want {
			t.Errorf("%s %s: %+v, want %s", c[0], c[1], e, want)
		}
		if res := b.as("bob", c[0], "/v1/vjobs/1"+c[1], c[2]); res.Code != http.StatusNotFound {
			t.Errorf("%s %s of another user: %d", c[0], c[1], res.Code)
		}
	}
	b.end(2, cluster.Deleted, "deleted by alice")
	b.end(3, cluster.Deleted, "deleted by alice")
	e := read[wire.Error](t, b.as("alice", "DELETE", "/v1/vjobs/2?array=true", ""), http.StatusConflict).Error
	if e.Message != "array 2: all of its 2 vjobs have ended" {
		t.Errorf("%+v", e)
	}
	if orders := b.scheduler.recorded(); len(orders) != 0 {
		t.Errorf("the scheduler was asked: %q", orders)
	}
}
