package api_test

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"vjob/api"
	"vjob/api/oarapi"
	"vjob/oar"
	"vjob/tests/golden"
)

// exampleBodies are requests of the examples, where those of [bodies] say little.
var exampleBodies = map[string]string{
	"submitVJob":   `{"name":"hello","count":2,"template":{"cpu_milli":1000,"memory_mib":512,"command":["echo","hello"]},"walltime_seconds":600,"labels":{"campaign":"7"}}`,
	"setBudgets":   `{"budgets":[{"watts":6000,"when":"Mo-Fr 18:00-08:00"},{"watts":3000,"group":"rack=r1"}]}`,
	"setPrices":    `{"csv":"time,EUR/MWh\n2026-11-22T00:00:00Z,90\n2026-11-22T01:00:00Z,60\n"}`,
	"askWhatIf":    `{"drain":["n1"],"submit":{"count":1,"template":{"cpu_milli":1000,"memory_mib":512}}}`,
	"createToken":  `{"name":"laptop","expires_in_seconds":86400}`,
	"oarSubmit":    `{"resource":"core=1,walltime=600","command":"echo hello"}`,
	"oarDo":        `{"method":"delete"}`,
	"oarNodeState": `{"state":"Absent"}`,
}

// typicalAnswers are those of what the fixture cannot do.
var typicalAnswers = map[string]any{"oarSubmit": acceptedByOAR, "oarResubmit": acceptedByOAR}

var acceptedByOAR = oar.Accepted{
	ID: 3, IDs: []int64{3}, Output: "OAR_JOB_ID=3\n", Timestamp: epoch.Unix(), Links: []oar.Link{{Rel: "self", Href: "/oarapi/jobs/3"}},
}

var secret = regexp.MustCompile(`vjob_[A-Za-z0-9_-]{43}`)

// TestExamplesAreAnswers compares the examples of the document with the answers to their requests.
func TestExamplesAreAnswers(t *testing.T) {
	examples := map[string]map[string]any{}
	b := withOAR(t)
	b.populate()
	b.raise()
	for _, o := range operations(document(t, b)) {
		body := bodies[o.OperationID]
		if other, given := exampleBodies[o.OperationID]; given {
			body = other
		}
		one := map[string]any{}
		if o.RequestBody != nil {
			one["request"] = decoded(t, o.OperationID, body)
		} else {
			body = ""
		}
		res := b.as("root", o.method, b.concrete(o.path), body)
		if strings.HasPrefix(res.Header().Get("Content-Type"), "application/json") && res.Code < 300 && o.OperationID != "getOpenAPI" {
			one["answer"] = decoded(t, o.OperationID, secret.ReplaceAllLiteralString(res.Body.String(), "vjob_"+strings.Repeat("x", 43)))
		}
		if typical, given := typicalAnswers[o.OperationID]; given {
			one["answer"] = typical
		}
		if len(one) > 0 {
			examples[o.OperationID] = one
		}
	}
	text, err := json.MarshalIndent(examples, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Same(t, "examples.json", string(text)+"\n")
}

// operation is an operation of the document.
type operation struct {
	*openapi3.Operation
	method, path string
}

// operations are those of a document: first those that only read.
func operations(doc *openapi3.T) (list []operation) {
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			list = append(list, operation{op, method, path})
		}
	}
	slices.SortFunc(list, func(a, b operation) int {
		return cmp.Or(cmp.Compare(turn(a), turn(b)), cmp.Compare(a.path, b.path), cmp.Compare(a.method, b.method))
	})
	return list
}

func turn(o operation) int {
	return slices.Index([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, o.method)
}

// withOAR is a fixture that serves OAR's dialect as well. Its clock stands still.
func withOAR(t *testing.T) *fixture {
	t.Helper()
	return newFixture(t, func(c *api.Config) {
		c.Now = func() time.Time { return epoch }
		c.Endpoints = oarapi.New(oarapi.Config{Version: "1.0", Queues: []oar.Queue{{Name: "default", Priority: 10, Policy: "easy", State: "Active"}}}).Endpoints
	})
}

// concrete replaces the variables of a path by what the fixture has.
func (b *fixture) concrete(path string) string {
	token := ""
	if strings.Contains(path, "/tokens/") {
		token = strconv.FormatInt(b.extraToken("bob"), 10)
	}
	return strings.NewReplacer("/tokens/{id}", "/tokens/"+token, "/pools/{name}", "/pools/physics", "/nodes/{name}", "/nodes/n1", "/resources/{name}", "/resources/n1",
		"/orphans/{name}", "/orphans/1.0.g2.a1", "{id}", "1", "{name}", "bob", "{signal}", "15").Replace(path)
}

func decoded(t *testing.T, name, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v in %q", name, err, text)
	}
	return v
}

// Each operation has an example of what it reads and of what it answers, which the document's own schemas hold for.
func TestExamplesMatchTheDocument(t *testing.T) {
	for _, o := range operations(document(t, withOAR(t))) {
		if o.RequestBody != nil {
			media := o.RequestBody.Value.Content.Get("application/json")
			if media.Example == nil {
				t.Errorf("%s: no example of a request", o.OperationID)
			} else if err := media.Schema.Value.VisitJSON(media.Example); err != nil {
				t.Errorf("%s: request: %v", o.OperationID, err)
			}
		}
		for status, response := range o.Responses.Map() {
			media := response.Value.Content.Get("application/json")
			switch {
			case media == nil || status == "default" || o.OperationID == "getOpenAPI":
			case media.Example == nil:
				t.Errorf("%s: no example of the answer %s", o.OperationID, status)
			default:
				if err := media.Schema.Value.VisitJSON(decoded(t, o.OperationID, encoded(t, media.Example))); err != nil {
					t.Errorf("%s: answer %s: %v", o.OperationID, status, err)
				}
			}
		}
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
