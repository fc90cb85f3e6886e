package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/replay"
	"vjob/tests/golden"
)

// settingsFile writes settings for two nodes.
func settingsFile(t *testing.T, name, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".yaml")
	text := "nodes: [{name: \"n[1-2]\", cpu: 4, memory: 4GiB}]\n" + more
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestReplaySettings compares new settings with those of now, on a log and on a workload
// file: by queue and by user, and what would be refused.
func TestReplaySettings(t *testing.T) {
	s := &shell{t: t, env: map[string]string{"HOME": t.TempDir()}}
	now := settingsFile(t, "now", "policy: {name: fcfs}\n")
	then := settingsFile(t, "new", "policy: {name: easy}\ndefault_queue: queue1\nqueues: [{name: queue1}, {name: queue2, priority: 9, limits: {vms: 4}}]\npriority: {queue: 100}\n")
	svg, starts := filepath.Join(t.TempDir(), "a.svg"), filepath.Join(t.TempDir(), "a.csv")
	golden.Same(t, "testdata/replay-settings.golden", s.ok("replay", "testdata/queues.swf", "--settings", now, "--settings", then, "--fields", "user", "--svg", svg))
	if picture := content(t, svg); !strings.Contains(picture, "Mean wait by user") {
		t.Errorf("picture: %.100s", picture)
	}
	golden.Same(t, "testdata/replay-queues.golden", s.ok("replay", "testdata/queues.swf", "--settings", then, "--fields", "user,queue,group,preceding,think", "--starts", starts))
	if got := content(t, starts); !strings.HasPrefix(got, "job,start\nj1,6.") || strings.Count(got, "\n") != 6 {
		t.Errorf("starts: %q", got)
	}
	var got replay.Replayed
	text := s.ok("replay", "testdata/queues.swf", "--settings", now, "--settings", then, "--policy", "fcfs,easy", "--fields", "user,queue", "-o", "json")
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if n := len(got.Runs); n != 4 || got.Runs[1].Policy != "now easy" || len(got.Runs[3].Refusals) == 0 || len(got.Runs[0].Users) == 0 {
		t.Errorf("%d runs: %+v", n, got.Runs)
	}
	phases := s.ok("replay", "testdata/queues.swf", "--cluster", "4x2x2GiB", "--phases", "--policy", "easy,dynamic-easy", "--min-run", "5m", "--all")
	if !strings.Contains(phases, "dynamic-easy STARTED") {
		t.Error(phases)
	}
}

func TestReplaySettingsRefuses(t *testing.T) {
	s := &shell{t: t, env: map[string]string{"HOME": t.TempDir()}}
	wrong := settingsFile(t, "wrong", "policy: {name: best}\n")
	right := settingsFile(t, "right", "")
	for line, want := range map[string]string{
		"testdata/small.json --settings " + wrong:                          `wrong.yaml:2:16: policy.name: "best"`,
		"testdata/small.json --settings none.yaml":                         `none.yaml`,
		"testdata/small.json --settings " + right + " --policy best":       `--policy: "best" is not`,
		"testdata/small.json --settings " + right + " --fields user":       `--fields: requires a log; testdata/small.json is a workload file`,
		"testdata/small.json --policy fcfs,easy --starts a.csv":            `--starts: requires a single --policy or --settings`,
		"testdata/small.json --start never":                                `--start: "never" is not`,
		"testdata/small.json --patience -1s":                               `--patience: "-1s" is not a time`,
		"testdata/queues.swf --cluster 1x1x64MiB":                          "", // all that fits is run
		"testdata/queues.swf --settings " + right + " --suspend elsewhere": `policy.suspend: "elsewhere" is not`,
	} {
		r := s.run(append([]string{"replay"}, strings.Fields(line)...)...)
		if want == "" && r.code == cli.ExitOK {
			continue
		}
		if r.code != cli.ExitInput || !strings.Contains(r.err, want) || want == "" {
			t.Errorf("%s: exit %d, %s\nwant %s", line, r.code, r.err, want)
		}
	}
}
