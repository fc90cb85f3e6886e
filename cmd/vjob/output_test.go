package main

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/cmd/vjob/cli"
	"vjob/daemon/settings"
)

// holds waits until a file holds a text.
func (s *shell) holds(name, want string) {
	s.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		text, err := os.ReadFile(name)
		if err == nil && string(text) == want {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s holds %q, want %q (%v)", name, text, want, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// A user names files, reads where they are, and finds the output in them.
func TestOutputFiles(t *testing.T) {
	own, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	base := t.TempDir()
	if err := os.Chmod(base, 0o755); err != nil { //nolint:gosec // users reach their folders below it
		t.Fatal(err)
	}
	s, _ := liveWith(t, nil, func(s *settings.Settings) { s.Output.Directory = base })
	files := filepath.Join(base, own.Username)
	r := s.run("submit", "--wait", "--output", "run-%j.out", "--error", "run-%j.err", "--", "sh", "-c", "echo hello; echo bad >&2; sleep 5; exit 3")
	if want := fmt.Sprintf("vjob: output: %s/run-1.out\nvjob: output: %s/run-1.err\n", files, files); r.code != 3 || !strings.HasPrefix(r.err, want) {
		t.Errorf("%+v, want %s", r, want)
	}
	for name, want := range map[string]string{"run-1.out": "hello\n", "run-1.err": "bad\n"} {
		s.holds(filepath.Join(files, name), want)
	}
	if out := s.ok("logs", "1"); out != "hello\nbad\n" {
		t.Errorf("logs: %q", out)
	}
	if out := s.ok("logs", "-f", "1"); out != "hello\nbad\n" {
		t.Errorf("logs -f: %q", out)
	}
	if out := s.ok("show", "--file", "1"); !strings.Contains(out, `output: "run-%j.out"`) || !strings.Contains(out, `error: "run-%j.err"`) {
		t.Errorf("show --file:\n%s", out)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(files, "run-2.out")); err != nil {
		t.Fatal(err)
	}
	s.ok("submit", "--output", "run-%j.out", "--", "echo", "again")
	s.waitFor("run-2.out is a symbolic link, want a regular file: remove it", "show", "2")
	if err := os.Remove(filepath.Join(files, "run-2.out")); err != nil {
		t.Fatal(err)
	}
	s.holds(filepath.Join(files, "run-2.out"), "again\n")
	s.fails(cli.ExitInput, "names one file for many vjobs: put %j into it", "submit", "--output", "run.out", "--", "true")
}

// A site without output files refuses them; a script for another system runs without them.
func TestOutputFilesAreNotKept(t *testing.T) {
	s, _ := live(t)
	s.fails(cli.ExitInput, "this site keeps no output files, vjob logs prints the output", "submit", "--output", "run-%j.out", "--", "true")
	r := s.run("submit", file(t, "#!/bin/sh\n#SBATCH -o slurm-%j.out --mem=64M\necho hello\n"), "--hold")
	if r.code != 0 || !strings.Contains(r.err, "vjob.yaml:2: output: this site keeps no output files") {
		t.Errorf("%+v", r)
	}
}
