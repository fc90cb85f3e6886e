package settings_test

import (
	"os"
	"testing"

	"vjob/tests/golden"
)

// TestDocumentShowsTheDefaults compares docs/reference/settings.md with the embedded defaults.
func TestDocumentShowsTheDefaults(t *testing.T) {
	text, err := os.ReadFile("default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	golden.Passage(t, "../../docs/reference/settings.md",
		"<!-- settings: written by go test ./daemon/settings -update -->\n", "<!-- end of settings -->\n",
		"```yaml\n"+string(text)+"```\n")
}
