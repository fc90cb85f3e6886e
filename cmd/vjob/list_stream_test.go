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

// longList streams so many vjobs; the connection breaks before the vjob with the number broken.
func longList(t *testing.T, total, broken int) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		most := total
		if text := r.URL.Query().Get("limit"); text != "" {
			limit, _ := strconv.Atoi(text)
			most = min(most, limit)
		}
		w.Header().Set("Content-Type", wire.MediaLines)
		w.Header().Set(wire.TotalHeader, strconv.Itoa(total))
		lines := json.NewEncoder(w)
		for id := 1; id <= most; id++ {
			if id == broken {
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
			_ = lines.Encode(wire.VJob{ID: int64(id), State: "waiting"})
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// A long list comes whole and in order, or not at all.
func TestListStream(t *testing.T) {
	for _, c := range []struct{ total, limit, want int }{{0, 0, 0}, {1, 0, 1}, {8007, 0, 8007}, {3000, 10, 10}, {3000, 9000, 3000}} {
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
	s := &shell{t: t, env: map[string]string{"VJOB_SERVER": longList(t, 2001, -1).URL}}
	for i, line := range strings.Split(strings.TrimSpace(s.ok("list")), "\n")[1:] {
		if fields := strings.Fields(line); fields[0] != strconv.Itoa(i+1) {
			t.Fatalf("row %d: %s", i+1, line)
		}
	}
	s = &shell{t: t, env: map[string]string{"VJOB_SERVER": longList(t, 8000, 5000).URL}}
	for _, args := range [][]string{{"list"}, {"list", "-o", "json"}} {
		if r := s.run(args...); r.code == cli.ExitOK || r.out != "" || !strings.Contains(r.err, "list of vjobs") {
			t.Errorf("exit %d, %s, %.100s", r.code, r.err, r.out)
		}
	}
}
