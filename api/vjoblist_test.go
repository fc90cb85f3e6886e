package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"vjob/api"
	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// asLines asks for a list as lines.
func (b *fixture) asLines(caller, query string) *httptest.ResponseRecorder {
	return b.as(caller, "GET", "/v1/vjobs?"+query, "", "Accept", wire.MediaLines)
}

// streamed reads a list as lines.
func (b *fixture) streamed(caller, query string) (entries []map[string]any, total string) {
	b.tb.Helper()
	res := b.asLines(caller, query)
	if res.Code != http.StatusOK || res.Header().Get("Content-Type") != wire.MediaLines || res.Header().Get("Vary") != "Accept" {
		b.tb.Fatalf("%s: %d %s", query, res.Code, res.Body)
	}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		var entry map[string]any
		b.must(json.Unmarshal(lines.Bytes(), &entry))
		entries = append(entries, entry)
	}
	return entries, res.Header().Get(wire.TotalHeader)
}

// A stream has all entries of the pages, each as it is there, in the same order.
func TestListAsLines(t *testing.T) {
	b := newFixture(t)
	for _, body := range []string{`{"name":"first","comment":"<a>&b","labels":{"z":"1"},` + one + `}`, `{"name":"sweep","array":2300,` + one + `}`, small} {
		read[wire.VJob](t, b.as("alice", "POST", "/v1/vjobs", body), http.StatusCreated)
	}
	b.end(1, cluster.Completed, "its guests shut themselves down")
	type pages struct {
		VJobs []map[string]any
		Total int
		Next  string
	}
	for _, c := range []struct {
		query  string
		cursor string
		most   int
	}{
		{"", "", 0},
		{"newest=true", "", 0},
		{"fields=id,name,comment", "", 0},
		{"fold=true", "", 0},
		{"live=true", "", 0},
		{"name=sweep&index=5-8", "", 0},
		{"name=none", "", 0},
		{"", "", 1},
		{"", "", 1000},
		{"", "", 1001},
		{"", "", 20_000},
		{"", "1200", 0},
		{"newest=true", "1200", 7},
	} {
		var want pages
		for next := c.cursor; ; {
			query := c.query + "&limit=700"
			if next != "" {
				query += "&cursor=" + next
			}
			page := read[pages](t, b.as("alice", "GET", "/v1/vjobs?"+query, ""), http.StatusOK)
			want.VJobs, want.Total = append(want.VJobs, page.VJobs...), max(want.Total, page.Total)
			if next = page.Next; next == "" {
				break
			}
		}
		total, query := strconv.Itoa(want.Total), c.query
		if c.cursor != "" {
			total, query = "", query+"&cursor="+c.cursor
		}
		if c.most > 0 {
			query += "&limit=" + strconv.Itoa(c.most)
			want.VJobs = want.VJobs[:min(c.most, len(want.VJobs))]
		}
		got, gotTotal := b.streamed("alice", query)
		if len(got) != len(want.VJobs) || gotTotal != total {
			t.Errorf("%q: %d entries of %s, want %d of %s", query, len(got), gotTotal, len(want.VJobs), total)
			continue
		}
		for i := range got {
			if !reflect.DeepEqual(got[i], want.VJobs[i]) {
				t.Errorf("%q: entry %d is %v, want %v", query, i, got[i], want.VJobs[i])
				break
			}
		}
	}
	if got, total := b.streamed("bob", ""); len(got) != 0 || total != "0" {
		t.Errorf("bob gets %d of %s", len(got), total)
	}
	for query, status := range map[string]int{"limit=0": 400, "limit=x": 400, "state=none": 400, "fields=": 400, "cursor=0": 400, "owner=alice": 403} {
		read[wire.Error](t, b.asLines("bob", query), status)
	}
}

// faultyReader fails after some lists of vjobs.
type faultyReader struct {
	api.Reader
	left  int
	fault func() error
}

func (f *faultyReader) VJobs(ctx context.Context, filter journal.Filter) ([]journal.Row, int, error) {
	if f.left--; f.left < 0 {
		return nil, 0, f.fault()
	}
	return f.Reader.VJobs(ctx, filter)
}

// A stream that cannot go on breaks, so that it is not taken for the whole list; one that cannot begin is an error.
func TestStreamBreaks(t *testing.T) {
	for name, fault := range map[string]func() error{
		"error": func() error { return errors.New("the disk is gone") },
		"panic": func() error { panic("a defect") },
	} {
		t.Run(name, func(t *testing.T) {
			broken := &faultyReader{fault: fault, left: 2}
			b := newFixture(t, func(c *api.Config) { broken.Reader, c.Reader = c.Reader, broken })
			read[wire.VJob](t, b.as("alice", "POST", "/v1/vjobs", `{"name":"sweep","array":3000,`+one+`}`), http.StatusCreated)
			broken.left = 2
			_, address := b.serve()
			stream, err := b.client(address, "alice").StreamVJobs(t.Context(), client.VJobQuery{})
			b.must(err)
			defer stream.Close()
			seen := 0
			for _, fault := range stream.All() {
				if err = fault; fault == nil {
					seen++
				}
			}
			if err == nil || seen != 2000 || stream.Total != 3000 {
				t.Errorf("%d of %d came, then %v", seen, stream.Total, err)
			}
			read[wire.Error](t, b.asLines("alice", ""), http.StatusInternalServerError)
		})
	}
}

// A caller has few streams of lists at a time.
func TestStreamsOfListsAreBounded(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	slow := &faultyReader{fault: func() error {
		entered <- struct{}{}
		<-leave
		return errors.New("released")
	}}
	b := newFixture(t, func(c *api.Config) { slow.Reader, c.Reader = c.Reader, slow })
	var streams sync.WaitGroup
	for range 8 {
		streams.Go(func() { b.asLines("alice", "") })
		<-entered
	}
	if e := read[wire.Error](t, b.asLines("alice", ""), http.StatusTooManyRequests).Error; !strings.Contains(e.Message, "streamed lists: 8 of yours") {
		t.Errorf("got %+v", e)
	}
	close(leave)
	streams.Wait()
}

// knowing knows vjobs as the loop does.
type knowing struct {
	scheduler.Statuses
	jobs map[cluster.VJobID]*cluster.VJob
}

func (k knowing) Untouched(id cluster.VJobID) *cluster.VJob { return k.jobs[id] }

// Lists show vjobs that the loop knows as those that are read, unless they have changed meanwhile.
func TestListOfKnownVJobs(t *testing.T) {
	b := newFixture(t)
	for _, body := range []string{
		`{"name":"first","comment":"why","walltime_seconds":3600,"deadline":"` + epoch.Add(time.Minute).Format(time.RFC3339) + `","labels":{"z":"1","a":"2"},` + one + `}`,
		`{"name":"sweep","parameters":["1","2"],` + one + `}`, `{"name":"held","hold":true,` + one + `}`, `{"name":"changed",` + one + `}`,
	} {
		read[wire.VJob](t, b.as("alice", "POST", "/v1/vjobs", body), http.StatusCreated)
	}
	jobs := map[cluster.VJobID]*cluster.VJob{}
	for id := range cluster.VJobID(5) {
		kept, err := b.scheduler.VJob(t.Context(), id+1)
		b.must(err)
		jobs[id+1] = kept.VJob
	}
	b.end(5, cluster.Deleted, "deleted by alice")
	for _, query := range []string{"", "fold=true", "newest=true&limit=2", "live=true", "fields=id,name,state,cpu_milli,vm_count", "label=z"} {
		b.scheduler.snap.VJobs = scheduler.Statuses{}
		want := b.as("alice", "GET", "/v1/vjobs?"+query, "").Body.String()
		b.scheduler.snap.VJobs = knowing{jobs: jobs}
		if got := b.as("alice", "GET", "/v1/vjobs?"+query, "").Body.String(); got != want {
			t.Errorf("%s:\n%s, want\n%s", query, got, want)
		}
	}
	jobs[1].Name = "seen to be used"
	if got := b.as("alice", "GET", "/v1/vjobs", "").Body.String(); !strings.Contains(got, "seen to be used") {
		t.Errorf("a vjob that is known was read: %s", got)
	}
}
