package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/cmd/vjob/cli"
	"vjob/tests/golden"
)

const smallLog = "testdata/small.swf"

// TestReplayLog prints the figures of all policies, and what was done about the gaps.
func TestReplayLog(t *testing.T) {
	s := &shell{t: t, env: map[string]string{}}
	dir := t.TempDir()
	svg, starts := filepath.Join(dir, "a.svg"), filepath.Join(dir, "a.csv")
	golden.Same(t, "testdata/replay-log.golden", s.ok("replay", smallLog, "--svg", svg, "--policy", "fcfs,firstfit,easy,conservative,conservative-nocompression"))
	if picture := content(t, svg); !strings.HasPrefix(picture, "<svg") || !strings.Contains(picture, "conservative-nocompression") {
		t.Errorf("picture: %.100s", picture)
	}
	golden.Same(t, "testdata/replay-log-json.golden", s.ok("replay", smallLog, "-o", "json", "--policy", "easy", "--starts", starts, "--processors", "8"))
	if got := content(t, starts); got != "job,start\n1,0\n2,10\n3,40\n4,50\n7,50\n6,140\n" {
		t.Errorf("starts: %q", got)
	}
	s.input = content(t, smallLog)
	var got struct {
		Jobs int
		Runs []struct{ Jobs int }
	}
	if err := json.Unmarshal([]byte(s.ok("replay", "-", "-o", "json", "--jobs", "2")), &got); err != nil || got.Jobs != 0 || len(got.Runs) != 2 || got.Runs[1].Jobs != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestReplayLogRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	noSize := file("no-size", strings.ReplaceAll(content(t, smallLog), "MaxProcs", "Procs"))
	broken := file("broken", strings.Replace(content(t, smallLog), "1010", "ten", 1))
	empty, named := file("empty.swf", ""), file("named.swf.gz", "{}")
	csv := filepath.Join(dir, "out.csv")
	for line, want := range map[string]string{
		smallLog + " --policy best":                     `--policy: "best" is not one of fcfs, firstfit, easy, conservative, conservative-nocompression`,
		smallLog + " --policy=":                         `--policy: "" is not one at least`,
		"testdata/small.json --policy=":                 `--policy: "" is not one at least`,
		smallLog + " --policy easy,best":                `--policy: "best" is not`,
		smallLog + " --processors -1":                   `--processors: -1 is not 1 or more, or 0 for what the log says`,
		smallLog + " --jobs -1":                         `--jobs: -1 is not`,
		smallLog + " --starts " + csv:                   `--starts: requires a single --policy`,
		smallLog + " --policy easy --starts " + dir:     `is a directory, want a file`,
		smallLog + " --svg " + smallLog:                 `--svg: "testdata/small.swf" is the same file as`,
		smallLog + " --seed 3":                          `--seed: requires a workload file, or --cluster or --settings; testdata/small.swf is a log`,
		smallLog + " --phases":                          `--phases: requires --cluster or --settings`,
		smallLog + " --cluster 4x2x1GiB --processors 2": `--processors: excludes --cluster and --settings`,
		smallLog + " --cluster 4x2x1GiB --fields users": `--fields: "users" is not one of user, group, queue, preceding, think`,
		"testdata/small.json --processors 5":            `--processors: requires a log; testdata/small.json is a workload file`,
		"testdata/small.json --policy best":             `--policy: "best" is not one of `,
		noSize:                                          noSize + `: --processors: missing: the log has neither MaxProcs nor MaxNodes`,
		broken:                                          broken + `: line 5: field 2, the submit time: "ten" is not a number`,
		empty:                                           empty + `: jobs: none of the log can be replayed`,
		named:                                           `: jobs: none of the log can be replayed; 1 from line 1 on: the last line is cut off: left out`,
		smallLog + " --processors 1 --jobs 1 --seed 0":  `--seed: requires`,
	} {
		s := &shell{t: t, env: map[string]string{}}
		if r := s.run(append([]string{"replay"}, strings.Fields(line)...)...); r.code != cli.ExitInput || !strings.Contains(r.err, want) || r.out != "" {
			t.Errorf("%s: exit %d, %s\nwant %s", line, r.code, r.err, want)
		}
	}
	if _, err := os.Stat(csv); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
}

// On a terminal the replay can be followed.
func TestReplayLogBar(t *testing.T) {
	for width, want := range map[int]bool{0: false, 80: true} {
		r := ticking(t, width, time.Second, "", "replay", smallLog, "--policy", "easy")
		if got := strings.Contains(r.err, "\reasy"); r.code != cli.ExitOK || got != want || want && !strings.HasSuffix(r.err, "\r\x1b[K") {
			t.Errorf("width %d: exit %d, %q", width, r.code, r.err)
		}
	}
}
