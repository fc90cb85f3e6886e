package api_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

// TestDocumentShowsTheConditions compares docs/reference/rest.md with the parameters of lists of vjobs.
func TestDocumentShowsTheConditions(t *testing.T) {
	var b strings.Builder
	b.WriteString("| parameter | type | meaning |\n| --- | --- | --- |\n")
	for _, ref := range document(t, newFixture(t)).Paths.Find("/v1/vjobs").Get.Parameters {
		kind := strings.Join(ref.Value.Schema.Value.Type.Slice(), "")
		if items := ref.Value.Schema.Value.Items; items != nil {
			kind = strings.Join(items.Value.Type.Slice(), "") + ", may be repeated"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", ref.Value.Name, kind, ref.Value.Description)
	}
	golden.Passage(t, "../docs/reference/rest.md",
		"<!-- vjob parameters: written by go test ./api -update -->\n", "<!-- end of vjob parameters -->\n", b.String())
}

// TestDocumentHasTheMetrics checks that docs/reference/metrics.md has each metric with its text.
func TestDocumentHasTheMetrics(t *testing.T) {
	var code []byte
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		code = append(code, text...)
	}
	text, err := os.ReadFile("../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	metric := regexp.MustCompile(`(?:describe\("|Name: "vjob_)(\w+)", (?:Help: )?"([^"]+)\."`)
	found := metric.FindAllStringSubmatch(string(code), -1)
	for _, m := range found {
		if row := "`vjob_" + m[1] + "` |"; !strings.Contains(string(text), row) || !strings.Contains(string(text), "| "+m[2]+" |") {
			t.Errorf("docs/reference/metrics.md lacks vjob_%s: %s", m[1], m[2])
		}
	}
	if len(found) < 20 {
		t.Errorf("only %d metrics were found", len(found))
	}
}
