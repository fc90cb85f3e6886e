package apifuzz_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// refused are the statuses of what the walk cannot do: the simulated cluster has no serial lines and no power model, nothing
// was lost, proposed or raised, and the vjobs that it makes wait.
var refused = map[string]int{
	"attachVJob": 403, "restoreVJob": 400, "deleteOrphan": 404, "switchNode": 409, "acknowledgeAlarm": 404, "reloadSettings": 409,
	"requeueVJob": 409, "suspendVJob": 409, "deleteUser": 409, "getRecommendation": 404, "approveRecommendation": 404, "rejectRecommendation": 404,
	"oarResubmit": 400, "oarSignal": 400, "oarSignalJob": 400, "oarCheckpointJob": 400, "oarCheckpointArray": 400,
}

// walked are bodies of the walk, where the first of [bodies] is refused.
var walked = map[string]string{
	"changeUser": `{"groups":["staff"]}`,
}

// TestEveryRouteAnswers makes a request of each operation, first of those that only read, to a daemon with vjobs of every
// kind, and compares the request and the answer with the document.
func TestEveryRouteAnswers(t *testing.T) {
	w := newWorld(t)
	ops := operations(w.doc)
	for _, reads := range []bool{true, false} {
		for _, o := range ops {
			if (o.method == http.MethodGet) != reads || o.method == http.MethodDelete {
				continue
			}
			w.walk(t, o)
		}
	}
	for _, o := range ops {
		if o.method == http.MethodDelete {
			w.walk(t, o)
		}
	}
	for _, line := range w.faults.take() {
		t.Errorf("the daemon logs %s", line)
	}
}

// walk makes a request of an operation for what it is about: a vjob of its own if it changes one.
func (w *world) walk(t *testing.T, o *operation) {
	t.Helper()
	w.want(http.StatusNoContent, w.root, "PUT", "/v1/pools/spare", `{}`)
	id := fmt.Sprint(firstVJob)
	if o.method != http.MethodGet {
		submit := func(waits string) {
			made := w.want(http.StatusCreated, w.root, "POST", "/v1/vjobs",
				`{"count":1,"template":{"cpu_milli":1,"memory_mib":1,"steps":[{"cpu_milli":1,"seconds":1e7}]},"array":1,`+waits+`}`)
			id = fmt.Sprintf("%.0f", made["id"])
		}
		submit(`"hold":true`)
		if o.name == "holdVJob" || o.name == "oarHoldJob" {
			submit(`"after":[{"on":` + id + `}]`) // not held, and yet it cannot start before its hold is asked for
		}
	}
	body := ""
	if o.body != nil {
		body = walkedBody(o)
		var value any
		must(t, json.Unmarshal([]byte(body), &value))
		if err := o.body.VisitJSON(value, openapi3.MultiErrors()); err != nil {
			t.Errorf("%s: the request %s does not match the document: %v", o.name, body, err)
		}
	}
	token := ""
	if strings.Contains(o.path, "/tokens/") {
		token = fmt.Sprintf("%.0f", w.want(http.StatusCreated, w.root, "POST", "/v1/users/carol/tokens", `{}`)["id"])
	}
	path := concrete(strings.Replace(o.path, "/tokens/{id}", "/tokens/"+token, 1), id)
	q := &request{caller: w.root, op: o, method: o.method, path: path, header: http.Header{}, body: []byte(body), values: map[string]string{}}
	q.op = &operation{name: o.name, method: o.method, path: path, document: o.document}
	w.root.sign(q.header)
	a := serve(w.handler, q)
	if err := w.conforms(q, a); err != nil {
		t.Errorf("%s: %v", o.name, err)
	}
	if want, known := refused[o.name]; a.status >= 300 && (!known || a.status != want) {
		t.Errorf("%s %s %s: status %d: %.300s", o.method, path, body, a.status, a.body)
	}
}

// walkedBody returns the body of the walk for an operation that has one.
func walkedBody(o *operation) string {
	if text, known := walked[o.name]; known {
		return text
	}
	if list := bodies[o.name]; len(list) > 0 {
		return strings.ReplaceAll(list[0], canary, "walk")
	}
	return `{}`
}

// concrete returns a path of the document with a vjob, and with things that exist in place of its other variables.
func concrete(path, vjob string) string {
	return strings.NewReplacer("/plans/{id}", "/plans/1", "/alarms/{id}", "/alarms/1", "/recommendations/{id}", "/recommendations/1", "/tokens/{id}", "/tokens/1",
		"{id}", vjob, "/pools/{name}", "/pools/spare", "/nodes/{name}", "/nodes/n1", "/resources/{name}", "/resources/n1", "/orphans/{name}", "/orphans/1.0.g1.a1",
		"{name}", "carol", "{signal}", "15").Replace(path)
}
