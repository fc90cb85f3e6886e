package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/cmd/vjob/cli"
	"vjob/db"
)

// TestBackup copies a living daemon's database, and never over a file.
func TestBackup(t *testing.T) {
	s, _ := live(t)
	s.ok("submit", "--name", "kept", "--mem", "64MiB", "--steps", "60m@1")
	dir := t.TempDir()
	path := filepath.Join(dir, "copy.db")
	if out := s.ok("admin", "backup", path); !strings.HasPrefix(out, path+": ") || !strings.HasSuffix(out, " bytes\n") {
		t.Errorf("printed %q", out)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	before, _ := os.ReadFile(path)
	s.fails(cli.ExitConflict, "copy.db: the file exists", "admin", "backup", path)
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("the file was changed")
	}
	s.fails(cli.ExitInternal, "no such file", "admin", "backup", filepath.Join(dir, "none", "copy.db"))
	s.fails(cli.ExitInput, "the file to write", "admin", "backup")
	s.fails(cli.ExitInput, "unknown command", "admin", "bakup")
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v %v", left, err)
	}
	copied, err := db.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = copied.Close() }()
	if job, err := copied.VJob(t.Context(), 1); err != nil || job.Name != "kept" {
		t.Errorf("%+v %v", job, err)
	}
}
