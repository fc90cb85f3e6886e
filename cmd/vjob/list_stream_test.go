package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
)

// longList serves so many vjobs page by page; the page that begins at broken is refused.
func longList(t *testing.T, total, broken int) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		number := func(name string) int { n, _ := strconv.Atoi(r.URL.Query().Get(name)); return n }
		from, limit := number("cursor"), number("limit")
		if from == broken {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"error":{"code":"forbidden","message":"not this page"}}`))
			return
		}
		page := wire.VJobList{Total: total}
		for id := from + 1; id <= min(total, from+limit); id++ {
			page.VJobs = append(page.VJobs, wire.VJob{ID: int64(id), State: "waiting"})
		}
		if from+limit < total {
			page.Next = strconv.Itoa(from + limit)
		}
		_ = json.NewEncoder(w).Encode(page)
	}))
	t.Cleanup(server.Close)
	return server
}

// A long list comes whole and in order, however many pages it has.
func TestListPages(t *testing.T) {
	for _, c := range []struct{ total, limit, want int }{
		{0, 0, 0},
		{1, 0, 1},
		{cli.PageSize, 0, cli.PageSize},
		{cli.PageSize + 1, 0, cli.PageSize + 1},
		{8*cli.PageSize + 7, 0, 8*cli.PageSize + 7},
		{3 * cli.PageSize, 10, 10},
		{3 * cli.PageSize, cli.PageSize + 1, cli.PageSize + 1},
		{3 * cli.PageSize, 9 * cli.PageSize, 3 * cli.PageSize},
	} {
		s := &shell{t: t, env: map[string]string{"VJOB_SERVER": longList(t, c.total, -1).URL}}
		var got wire.VJobList
		if err := json.Unmarshal([]byte(s.ok("list", "-o", "json", "--limit", strconv.Itoa(c.limit))), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.VJobs) != c.want || got.Total != c.total {
			t.Errorf("%d of %d, at most %d; want %d", len(got.VJobs), got.Total, c.limit, c.want)
		}
		for i := range got.VJobs {
			if got.VJobs[i].ID != int64(i+1) {
				t.Fatalf("at most %d of %d: vjob %d stands at %d", c.limit, c.total, got.VJobs[i].ID, i)
			}
		}
	}
	s := &shell{t: t, env: map[string]string{"VJOB_SERVER": longList(t, 2*cli.PageSize+1, -1).URL}}
	for i, line := range strings.Split(strings.TrimSpace(s.ok("list")), "\n")[1:] {
		if fields := strings.Fields(line); fields[0] != strconv.Itoa(i+1) {
			t.Fatalf("row %d: %s", i+1, line)
		}
	}
	s = &shell{t: t, env: map[string]string{"VJOB_SERVER": longList(t, 8*cli.PageSize, 5*cli.PageSize).URL}}
	if r := s.run("list"); r.code == cli.ExitOK || r.out != "" || !strings.Contains(r.err, "not this page") {
		t.Errorf("exit %d, %s, %.100s", r.code, r.err, r.out)
	}
}
