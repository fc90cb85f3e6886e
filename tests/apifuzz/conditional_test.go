package apifuzz_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// guardedAsk makes a request with headers; they are pairs.
func (w *world) guardedAsk(c *caller, method, path, body string, headers ...string) *answer {
	q := &request{caller: c, method: method, path: path, header: http.Header{}, body: []byte(body)}
	for i := 0; i < len(headers); i += 2 {
		q.header.Set(headers[i], headers[i+1])
	}
	c.sign(q.header)
	return serve(w.handler, q)
}

// tag returns the entity tag of a path.
func (w *world) tag(path string) string {
	w.tb.Helper()
	a := w.ask(w.root, "GET", path, "")
	if tag := a.header.Get("ETag"); a.status == http.StatusOK && tag != "" {
		return tag
	}
	w.tb.Fatalf("GET %s: %d with ETag %q: %s", path, a.status, a.header.Get("ETag"), a.body)
	return ""
}

// clients is how many make the same change at once.
const clients = 8

// race makes a change at once as several clients, and counts the statuses.
func (w *world) race(change func(client int) *answer) map[int]int {
	var all sync.WaitGroup
	var mu sync.Mutex
	counts := map[int]int{}
	start := make(chan struct{})
	for i := range clients {
		all.Go(func() {
			<-start
			a := change(i)
			mu.Lock()
			defer mu.Unlock()
			counts[a.status]++
			if a.status == http.StatusPreconditionFailed && !strings.Contains(string(a.body), "read it again") && !strings.Contains(string(a.body), "exist") {
				w.tb.Errorf("412 does not say what to do: %s", a.body)
			}
		})
	}
	close(start)
	all.Wait()
	return counts
}

// Of several clients that change the same thing with the tag that all of them have read, one succeeds.
func TestOneOfManyChangesWins(t *testing.T) {
	w := newWorld(t)
	vjob := func(hold bool) string {
		made := w.want(http.StatusCreated, w.root, "POST", "/v1/vjobs", fmt.Sprintf(
			`{"count":1,"template":{"cpu_milli":1,"memory_mib":1,"steps":[{"cpu_milli":1,"seconds":1e7}]},"walltime_seconds":1000000,"hold":%t}`, hold))
		return fmt.Sprintf("/v1/vjobs/%.0f", made["id"])
	}
	running := func() string {
		path := vjob(false)
		for w.want(200, w.root, "GET", path, "")["state"] != "running" {
			time.Sleep(5 * time.Millisecond)
		}
		return path
	}
	w.want(204, w.root, "PUT", "/v1/pools/spare", `{}`)
	for _, c := range []struct {
		method, of, then, body string // the path that has the tag, and what follows it in that of the change; %d in the body is the client
	}{
		{"PATCH", vjob(true), "", `{"walltime_seconds":6%d}`},
		{"PATCH", vjob(true), "", `{"walltime_seconds":60}`},
		{"PATCH", vjob(true), "", `{"moves":"never"}`},
		{"PATCH", vjob(true), "", `{"pool":"spare"}`},
		{"POST", vjob(true), "/release", ""},
		{"DELETE", vjob(true), "", ""},
		{"POST", running(), "/suspend", ""},
		{"POST", running(), "/requeue", ""},
		{"DELETE", running(), "", ""},
		{"PUT", "/v1/pools/spare", "", `{"cpu":{"shares":"%d"}}`},
		{"PATCH", "/v1/nodes/n2", "", `{"state":"maintenance","reason":"%d"}`},
		{"POST", "/v1/nodes/n3", "/drain", ""},
		{"PUT", "/v1/rules", "", `{"text":"# %d"}`},
		{"PUT", "/v1/prices", "", `{"csv":"time,EUR/MWh\n2026-11-22T00:00:00Z,9%d\n2026-11-22T01:00:00Z,60\n"}`},
		{"PATCH", "/v1/users/carol", "", `{"groups":["g%d"]}`},
	} {
		tag := w.tag(c.of)
		body := func(i int) string {
			if strings.Contains(c.body, "%d") {
				return fmt.Sprintf(c.body, i+1)
			}
			return c.body
		}
		counts := w.race(func(i int) *answer { return w.guardedAsk(w.root, c.method, c.of+c.then, body(i), "If-Match", tag) })
		if counts[http.StatusPreconditionFailed] != clients-1 || counts[200]+counts[202]+counts[204] != 1 {
			t.Errorf("%s %s %s: statuses %v, want 1 success and %d times 412", c.method, c.of+c.then, c.body, counts, clients-1)
		}
	}
	counts := w.race(func(i int) *answer {
		return w.guardedAsk(w.root, "PUT", "/v1/pools/fresh", fmt.Sprintf(`{"cpu":{"shares":"%d"}}`, i+1), "If-None-Match", "*")
	})
	if counts[204] != 1 || counts[412] != clients-1 {
		t.Errorf("created with If-None-Match: *: statuses %v", counts)
	}
}

// What passes with time leaves the revision of a vjob as it is: its tag can be sent late.
func TestTagOutlivesTime(t *testing.T) {
	w := newWorld(t)
	path := fmt.Sprintf("/v1/vjobs/%d", firstVJob)
	for w.want(200, w.root, "GET", path, "")["state"] != "running" {
		time.Sleep(5 * time.Millisecond)
	}
	first := w.tag(path)
	ran := func() float64 { n, _ := w.want(200, w.root, "GET", path, "")["ran_seconds"].(float64); return n }
	for began := ran(); ran() == began; {
		time.Sleep(5 * time.Millisecond)
	}
	if later := w.tag(path); later == first {
		t.Errorf("ran_seconds has changed, and the tag is still %s: a reader would get 304", later)
	}
	if a := w.guardedAsk(w.root, "PATCH", path, `{"walltime_seconds":5000000}`, "If-Match", first); a.status != 200 {
		t.Errorf("the tag of before: %d %s", a.status, a.body)
	}
	if a := w.guardedAsk(w.root, "PATCH", path, `{"walltime_seconds":6000000}`, "If-Match", first); a.status != 412 {
		t.Errorf("the tag of before the change: %d %s", a.status, a.body)
	}
	if a := w.guardedAsk(w.root, "PATCH", path, `{"walltime_seconds":6000000}`, "If-Match", "*"); a.status != 200 {
		t.Errorf("*: %d %s", a.status, a.body)
	}
	if a := w.guardedAsk(w.root, "DELETE", "/v1/pools/none", "", "If-Match", "*"); a.status != 412 && a.status != 404 {
		t.Errorf("* of what does not exist: %d %s", a.status, a.body)
	}
	a := w.guardedAsk(w.root, "GET", "/v1/rules", "", "If-None-Match", w.tag("/v1/rules"))
	if a.status != http.StatusNotModified || len(a.body) != 0 {
		t.Errorf("what is known: %d %s", a.status, a.body)
	}
}

// Every change takes If-Match as the document says, or refuses it: no condition is ignored.
func TestNoConditionIsIgnored(t *testing.T) {
	w := newWorld(t)
	w.want(204, w.root, "PUT", "/v1/pools/spare", `{}`)
	for _, o := range operations(w.doc) {
		if o.method == http.MethodGet || strings.HasPrefix(o.path, "/oarapi") || o.name == "askWhatIf" {
			continue
		}
		made := w.want(http.StatusCreated, w.root, "POST", "/v1/vjobs", `{"count":1,"template":{"cpu_milli":1,"memory_mib":1},"hold":true}`)
		body := strings.ReplaceAll(walkedBody(o), canary, "walk")
		path := concrete(o.path, fmt.Sprintf("%.0f", made["id"]))
		a := w.guardedAsk(w.root, o.method, path, body, "If-Match", `"0000000000000000"`)
		takes := false
		for _, p := range o.params {
			takes = takes || p.Value.Name == "If-Match"
		}
		refused := a.status == http.StatusBadRequest && strings.Contains(string(a.body), `"field":"If-Match"`)
		if takes && a.status != http.StatusPreconditionFailed || !takes && !refused {
			t.Errorf("%s %s takes If-Match: %v; an unknown tag: %d %s", o.method, path, takes, a.status, a.body)
		}
	}
}
