package scenarios_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"vjob/tests/golden"
)

// TestScenarios runs every script.
func TestScenarios(t *testing.T) {
	for _, path := range scripts(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := read(t, path)
			log, err := run(string(text))
			if err != nil {
				t.Fatalf("%s:%v\n%s", path, err, tail(log, 60))
			}
			golden.Same(t, strings.TrimSuffix(path, ".txt")+".golden", log)
		})
	}
}

// TestDeterminism runs every script twice.
func TestDeterminism(t *testing.T) {
	for _, path := range scripts(t) {
		text := string(read(t, path))
		first, _ := run(text)
		if second, _ := run(text); first != second {
			t.Errorf("%s: two runs, two logs", path)
		}
	}
}

// elsewhere are the rows of docs/RELIABILITY.md without a script, and why.
var elsewhere = map[int]string{
	31: "there is one controller: the store refuses the commits of an older epoch (tests/storetest)",
	35: "in virtual time no wall clock can be set",
	37: "limits of the API: api/input_test.go",
	39: "migrations of the schema: db",
	40: "lock managers of real hosts are checked by the libvirt driver",
}

// TestRows checks that every row of the table has a script, or a reason to have none.
func TestRows(t *testing.T) {
	covered := map[int]bool{}
	for _, path := range scripts(t) {
		head, _, _ := bytes.Cut(read(t, path), []byte(":"))
		if n, err := strconv.Atoi(strings.TrimPrefix(string(head), "row ")); err == nil {
			covered[n] = true
		} else if string(head) != "row -" {
			t.Errorf("%s: the first line is %q, want \"row N: …\"", path, head)
		}
	}
	for n := 1; n <= 40; n++ {
		if why := elsewhere[n]; covered[n] == (why != "") {
			t.Errorf("row %d: has a script: %v, reason to have none: %q", n, covered[n], why)
		}
	}
}

func scripts(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts (%v)", err)
	}
	slices.Sort(paths)
	return paths
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func tail(log string, n int) string {
	lines := strings.Split(log, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
