package api_test

import (
	"fmt"
	"strings"
	"testing"

	"vjob/api"
	"vjob/tests/golden"
)

// TestDocumentShowsTheRoutes compares docs/reference/rest.md with the table of endpoints.
func TestDocumentShowsTheRoutes(t *testing.T) {
	doc := document(t, newFixture(t))
	var b strings.Builder
	b.WriteString("| route | access | what it does |\n| --- | --- | --- |\n")
	for _, r := range api.Routes() {
		operation := doc.Paths.Find(r.Path).GetOperation(r.Method)
		fmt.Fprintf(&b, "| `%s %s` | %s | %s |\n", r.Method, r.Path, r.Least, operation.Summary)
	}
	golden.Passage(t, "../docs/reference/rest.md",
		"<!-- routes: written by go test ./api -update -->\n", "<!-- end of routes -->\n", b.String())
}
