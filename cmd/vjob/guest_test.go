package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
)

// On a simulated cluster, a command prints what a newcomer expects and ends with its exit status.
func TestGuestRunsCommand(t *testing.T) {
	s, _ := live(t)
	r := s.run("submit", "--wait", "--", "echo", "hello")
	if r.code != cli.ExitOK || !strings.HasPrefix(r.out, "1\n") || strings.Contains(r.err, "simulated") {
		t.Fatalf("submit: %+v", r)
	}
	if out := s.ok("logs", "1"); !strings.Contains(out, "hello\n") {
		t.Errorf("logs: %q", out)
	}
	if out := s.ok("show", "1"); !strings.Contains(out, "completed") {
		t.Errorf("show: %s", out)
	}
	if r := s.run("submit", "--wait", "--", "sh", "-c", "echo a; sleep 5; exit 3"); r.code == cli.ExitOK || !strings.Contains(r.out+r.err, "3") {
		t.Errorf("exit 3: %+v", r)
	}
	if out := s.ok("show", "2", "-o", "json"); !strings.Contains(out, `"exit_status": "3:0"`) {
		t.Errorf("exit 3: %s", out)
	}
	script := filepath.Join(t.TempDir(), "run.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nfor i in 1 2; do echo \"$VJOB_ID.$VJOB_RANK: $i\"; sleep 1m; done\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.ok("submit", "--wait", "--vms", "2", "--script", script)
	if out := s.ok("logs", "3", "--rank", "1"); !strings.Contains(out, "3.1: 1\n3.1: 2\n") {
		t.Errorf("logs of a script: %q", out)
	}
}

// The submission says what simulated guests will not do.
func TestSubmitNotes(t *testing.T) {
	s, _ := live(t)
	const note = "simulated guests interpret the command: ./run.sh is not found and ends with 127; give it work with --steps 2m@1, or sleep 60"
	r := s.run("submit", "--wait", "--", "./run.sh")
	if r.code == cli.ExitOK || !strings.Contains(r.err, "vjob: "+note+"\n") {
		t.Errorf("%+v", r)
	}
	if out := s.ok("logs", "1"); !strings.Contains(out, "sh: ./run.sh: a simulated guest has no such command; give it work with --steps 2m@1, or sleep 60\n") {
		t.Errorf("logs: %q", out)
	}
	var job wire.VJob
	if err := json.Unmarshal([]byte(s.ok("submit", "-o", "json", "--", "./run.sh")), &job); err != nil || len(job.Notes) != 1 || job.Notes[0] != note {
		t.Errorf("%v, notes %q", err, job.Notes)
	}
	if r := s.run("submit", "--cpu", "1"); r.err != "vjob: simulated guests without a command or steps run until they are stopped: vjob delete 3\n" {
		t.Errorf("%+v", r)
	}
	if r := s.run("submit", "--steps", "1m@1", "--", "./run.sh"); r.err != "" {
		t.Errorf("%+v", r)
	}
}
