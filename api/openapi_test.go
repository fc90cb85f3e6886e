package api_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/legacy"

	"vjob/api"
)

func document(t *testing.T, b *fixture) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(b.as("", "GET", "/v1/openapi.json", "").Body.Bytes())
	if err == nil {
		err = doc.Validate(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestDocumentListsTheRoutes(t *testing.T) {
	var listed, routed []string
	for path, item := range document(t, newFixture(t)).Paths.Map() {
		for method, op := range item.Operations() {
			listed = append(listed, method+" "+path+" "+op.OperationID)
		}
	}
	for _, r := range api.Routes() {
		routed = append(routed, r.Method+" "+r.Path+" "+r.Operation)
	}
	slices.Sort(listed)
	slices.Sort(routed)
	if !slices.Equal(listed, routed) {
		t.Errorf("listed\n%s\nrouted\n%s", strings.Join(listed, "\n"), strings.Join(routed, "\n"))
	}
}

// TestAnswersMatchTheDocument: requests that succeed are valid, and so is every
// answer, of failures too.
func TestAnswersMatchTheDocument(t *testing.T) {
	b := newFixture(t)
	b.populate()
	b.raise()
	doc := document(t, b)
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, caller := range []string{"root", "alice", ""} {
		for _, r := range api.Routes() {
			token := ""
			if strings.Contains(r.Path, "/tokens/") {
				token = strconv.FormatInt(b.extraToken("bob"), 10)
			}
			path := strings.NewReplacer("/tokens/{id}", "/tokens/"+token, "/vjobs/{id}", "/vjobs/1", "{id}", "1",
				"/nodes/{name}", "/nodes/n1", "{name}", "bob").Replace(r.Path)
			body := bodies[r.Operation]
			req, err := http.NewRequestWithContext(t.Context(), r.Method, path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if r.Body {
				req.Header.Set("Content-Type", "application/json")
			}
			route, params, err := router.FindRoute(req)
			if err != nil {
				t.Fatalf("%s %s: %v", r.Method, path, err)
			}
			input := &openapi3filter.RequestValidationInput{
				Request: req, PathParams: params, Route: route,
				Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true},
			}
			if err := openapi3filter.ValidateRequest(t.Context(), input); err != nil {
				t.Errorf("%s %s: request: %v", r.Method, path, err)
			}
			res := b.as(caller, r.Method, path, body)
			err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
				RequestValidationInput: input, Status: res.Code, Header: res.Header(),
				Body: io.NopCloser(bytes.NewReader(res.Body.Bytes())), Options: input.Options,
			})
			if err != nil {
				t.Errorf("%q %s %s: answer %d %s: %v", caller, r.Method, path, res.Code, res.Body, err)
			}
		}
	}
}
