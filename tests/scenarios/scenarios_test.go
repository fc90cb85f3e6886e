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

// TestScenarios plays every script.
func TestScenarios(t *testing.T) {
	for _, path := range scripts(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := read(t, path)
			log, err := play(string(text))
			if err != nil {
				t.Fatalf("%s:%v\n%s", path, err, tail(log, 60))
			}
			golden.Same(t, strings.TrimSuffix(path, ".txt")+".golden", log)
		})
	}
}

// TestDeterminism plays every script a second time.
func TestDeterminism(t *testing.T) {
	for _, path := range scripts(t) {
		text := string(read(t, path))
		first, _ := play(text)
		if second, _ := play(text); first != second {
			t.Errorf("%s: two plays, two logs", path)
		}
	}
}

// elsewhere are the rows of RELIABILITY §5.5 that no script plays, and why.
var elsewhere = map[int]string{
	31: "there is one controller: the store refuses the commits of an older epoch (tests/storetest)",
	35: "virtual time has no wall clock beside it that could be set; no test plays it",
	37: "limits of the API: api/input_test.go",
	39: "migrations of the schema: db",
	40: "lock managers of real hosts are checked by the libvirt driver",
}

// TestRows demands a script for every row of the table, or a reason.
func TestRows(t *testing.T) {
	played := map[int]bool{}
	for _, path := range scripts(t) {
		head, _, _ := bytes.Cut(read(t, path), []byte(":"))
		if n, err := strconv.Atoi(strings.TrimPrefix(string(head), "row ")); err == nil {
			played[n] = true
		} else if string(head) != "row -" {
			t.Errorf("%s: the first line is %q, want \"row N: …\"", path, head)
		}
	}
	for n := 1; n <= 40; n++ {
		if why := elsewhere[n]; played[n] == (why != "") {
			t.Errorf("row %d: played %v, and the reason not to is %q", n, played[n], why)
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
