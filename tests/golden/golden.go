// Package golden compares the output of tests with reviewed files. With -update the tests
// write the files anew; review the difference before committing it.
package golden

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Same fails the test unless the file holds exactly this text.
func Same(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		write(t, path, got)
		return
	}
	if diff := cmp.Diff(read(t, path), got); diff != "" {
		t.Errorf("%s differs (- file, + now); if it is right as it is now, run the test with -update:\n%s", path, diff)
	}
}

// Dialogue fails the test unless each line "> QUESTION" of the file is followed by its
// answer. Lines "== TITLE" are headings.
func Dialogue(t *testing.T, path string, answer func(question string) string) {
	t.Helper()
	var got strings.Builder
	for line := range strings.Lines(read(t, path)) {
		if question, ok := strings.CutPrefix(line, "> "); ok {
			fmt.Fprintf(&got, "%s%s\n", line, answer(strings.TrimSuffix(question, "\n")))
		} else if strings.HasPrefix(line, "== ") {
			fmt.Fprintf(&got, "%s\n", line)
		}
	}
	Same(t, path, got.String())
}

// Passage fails the test unless the file holds exactly this text between two marks.
func Passage(t *testing.T, path, begin, end, got string) {
	t.Helper()
	before, rest, begins := strings.Cut(read(t, path), begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has lost its marks: %q … %q", path, begin, end)
	}
	Same(t, path, before+begin+got+end+after)
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // to be read by all
		t.Fatal(err)
	}
}
