package architecture_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	scenario  = regexp.MustCompile("`(\\d\\d_\\w+)`")
	violation = regexp.MustCompile(`violate\((\d+),`)
)

// TestReliabilityNamesTheScenarios checks that docs/RELIABILITY.md has the scripts of all rows,
// and no others.
func TestReliabilityNamesTheScenarios(t *testing.T) {
	text, err := os.ReadFile(path.Join(root, "docs/RELIABILITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range scenario.FindAllStringSubmatch(string(text), -1) {
		named[m[1]] = true
	}
	scripts, err := filepath.Glob(path.Join(root, "tests/scenarios/testdata/[0-9][0-9]_*.txt"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts (%v)", err)
	}
	for _, script := range scripts {
		name := strings.TrimSuffix(filepath.Base(script), ".txt")
		if !named[name] {
			t.Errorf("docs/RELIABILITY.md lacks the scenario %s", name)
		}
		delete(named, name)
	}
	for name := range named {
		t.Errorf("docs/RELIABILITY.md names the scenario %s, which does not exist", name)
	}
}

// TestReliabilityHasTheInvariants checks that docs/RELIABILITY.md has each invariant that the
// simulation reports, with the file that reports it.
func TestReliabilityHasTheInvariants(t *testing.T) {
	text, err := os.ReadFile(path.Join(root, "docs/RELIABILITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if cell, rest, ok := strings.Cut(strings.TrimPrefix(line, "| I"), " | "); ok && strings.HasPrefix(line, "| I") {
			rows[cell] = rest
		}
	}
	files, err := filepath.Glob(path.Join(root, "tests/sim/*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in tests/sim (%v)", err)
	}
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range violation.FindAllStringSubmatch(string(code), -1) {
			if name := "tests/sim/" + filepath.Base(file); !strings.Contains(rows[m[1]], name) {
				t.Errorf("docs/RELIABILITY.md: the row of I%s does not name %s", m[1], name)
			}
		}
	}
}
