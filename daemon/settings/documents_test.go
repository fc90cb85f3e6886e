package settings_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"vjob/daemon/settings"
	"vjob/internal/document"
	"vjob/tests/golden"
)

// TestDocumentShowsTheDefaults compares docs/reference/settings.md with the embedded defaults.
func TestDocumentShowsTheDefaults(t *testing.T) {
	golden.Passage(t, "../../docs/reference/settings.md",
		"<!-- settings: written by go test ./daemon/settings -update -->\n", "<!-- end of settings -->\n",
		"```yaml\n"+settings.Reference+"```\n")
}

var block = regexp.MustCompile("(?s)\n( *)```yaml\n(.*?)\n *```")

// TestSettingsInDocumentsAreValid decodes each YAML block of the documents that has only
// top-level keys of the settings. Blocks are fragments, so their values are not checked together.
func TestSettingsInDocumentsAreValid(t *testing.T) {
	known := map[string]any{}
	if err := yaml.Unmarshal([]byte(settings.Reference), &known); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../../docs/[a-z]*/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no documents (%v)", err)
	}
	texts := map[string]string{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		texts[page] = string(text)
	}
	found := 0
	for page, text := range texts {
		for _, m := range block.FindAllStringSubmatch(text, -1) {
			lines := strings.ReplaceAll("\n"+m[2], "\n"+m[1], "\n")[1:] + "\n"
			keys := map[string]any{}
			if yaml.Unmarshal([]byte(lines), &keys) != nil || len(keys) == 0 || !subset(keys, known) {
				continue
			}
			found++
			if _, err := document.Decode(page, []byte(lines), new(settings.Settings)); err != nil {
				t.Errorf("%v in\n%s", err, lines)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d blocks with settings were found", found)
	}
}

func subset(keys, known map[string]any) bool {
	for key := range keys {
		if _, ok := known[key]; !ok {
			return false
		}
	}
	return true
}
