package apifuzz_test

import (
	"net/http"
	"testing"
)

// judged makes one request of an operation for each kind of caller, and fails on a fault.
func judged(t *testing.T, w *world, name, query string, body []byte) {
	t.Helper()
	for _, o := range operations(w.doc) {
		if o.name != name {
			continue
		}
		for _, c := range w.callers[:2] {
			q := &request{caller: c, op: o, method: o.method, path: o.path, query: query, header: http.Header{}, body: body, values: map[string]string{}}
			for _, key := range []string{"id", "name"} {
				q.values[key] = "{" + key + "}"
			}
			c.sign(q.header)
			for _, text := range w.judge(q, serve(w.handler, q)) {
				t.Errorf("%s: %s", q, text)
			}
		}
	}
	for _, line := range w.faults.take() {
		t.Errorf("the daemon logs %s", line)
	}
	if err := w.tidy(); err != nil {
		t.Fatal(err)
	}
}

// fuzzBodies feeds the bodies of an operation to a whole daemon.
func fuzzBodies(f *testing.F, name string) {
	f.Helper()
	for _, body := range bodies[name] {
		f.Add([]byte(body))
	}
	for _, text := range raw {
		f.Add([]byte(text))
	}
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, body []byte) { judged(t, w, name, "", body) })
}

func FuzzSubmission(f *testing.F)    { fuzzBodies(f, "submitVJob") }
func FuzzWhatIf(f *testing.F)        { fuzzBodies(f, "askWhatIf") }
func FuzzOARSubmission(f *testing.F) { fuzzBodies(f, "oarSubmit") }
func FuzzBudgets(f *testing.F)       { fuzzBodies(f, "setBudgets") }
func FuzzPrices(f *testing.F)        { fuzzBodies(f, "setPrices") }
func FuzzRules(f *testing.F)         { fuzzBodies(f, "setRules") }
func FuzzNodes(f *testing.F)         { fuzzBodies(f, "changeNodes") }

// FuzzQuery feeds queries to the lists.
func FuzzQuery(f *testing.F) {
	for _, query := range []string{
		"", "state=waiting&state=running&owner=alice&live=true&limit=1&offset=1", "fold=true&array=7300003", "vjob=7300001&latest=true&after=1",
		"structure=oar&format=3", "state=Running,Hold&ids=7300001:7300004&from=1&to=2", "limit=9223372036854775808", "a;b", "%", "limit=1&limit=2",
		"from=2026-11-21T00:00:00Z&until=2026-11-22T00:00:00Z",
	} {
		f.Add(query)
	}
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, query string) {
		for _, name := range []string{"listVJobs", "listEvents", "listPlans", "oarJobs", "oarJobDetails", "oarAccounting", "oarGantt"} {
			judged(t, w, name, query, nil)
		}
	})
}
